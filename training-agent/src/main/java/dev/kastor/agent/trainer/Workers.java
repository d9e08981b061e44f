package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.PeerLink;
import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.agent.servers.Wire;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers of a generation as a server has them: a thread waits for each to connect, serves it until
 * its link breaks, and waits for it again.
 */
final class Workers implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Workers.class);
  private static final Duration ACCEPT_LIMIT = Duration.ofSeconds(10);

  private final String job;
  private final PeerLink.Place place;
  private final Service service;
  private final List<Thread> threads = new ArrayList<>();
  private final Set<Wire> wires = new HashSet<>();
  private volatile boolean closed;

  /** Service for a connected worker, on the worker's thread. */
  @FunctionalInterface
  interface Service {
    /** Serves it until it needs no more. */
    void serve(int rank, Wire wire) throws IOException, InterruptedException;
  }

  private Workers(String job, PeerLink.Place place, Service service) {
    this.job = job;
    this.place =
        new PeerLink.Place(
            place.listener(), place.generation(), place.self(), place.limits(), () -> closed);
    this.service = service;
  }

  /** Begins to wait for them. */
  static Workers open(
      String job, PeerLink.Place place, List<InetSocketAddress> addresses, Service service) {
    Workers workers = new Workers(job, place, service);
    for (int rank = 0; rank < addresses.size(); rank++) {
      int own = rank;
      workers.threads.add(
          Thread.ofVirtual()
              .name("worker-" + rank)
              .start(() -> workers.serveAlways(own, addresses.get(own))));
    }
    return workers;
  }

  private void serveAlways(int rank, InetSocketAddress address) {
    try {
      while (!closed) {
        serveOnce(rank, address);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serveOnce(int rank, InetSocketAddress address) throws InterruptedException {
    try (Wire wire = accepted(rank, address)) {
      service.serve(rank, wire);
    } catch (RingBrokenException e) {
      log.debug("{}: worker {}: {}", job, rank, e.getMessage());
    } catch (IOException e) {
      log.warn("{}: worker {}: {}", job, rank, e.toString());
    } catch (RuntimeException e) {
      // The thread goes on: without it this worker would be accepted no more in the generation.
      log.warn("{}: worker {}", job, rank, e);
    }
  }

  private Wire accepted(int rank, InetSocketAddress address) throws IOException {
    Wire wire =
        new Wire(PeerLink.accept(place, new PeerLink.End(false, rank), address, ACCEPT_LIMIT));
    synchronized (wires) {
      if (closed) {
        wire.close();
      }
      wires.removeIf(each -> each.link().isClosed());
      wires.add(wire);
    }
    return wire;
  }

  /** All links close, and no thread serves a worker any more; none may wait for something else. */
  @Override
  public void close() {
    closed = true;
    synchronized (wires) {
      wires.forEach(Wire::close);
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
