package dev.kastor.engine.partition.tcp;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.partition.LocalRendezvous;
import dev.kastor.engine.partition.Rendezvous;
import dev.kastor.engine.placement.Device;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rendezvous of devices of several processes, which know each other by certificates of one
 * authority.
 *
 * <p>A process sends over one connection to each other, made when it is first needed. When a
 * connection breaks, whoever waits for something of that process fails. Thread-safe.
 */
public final class TcpRendezvous implements Rendezvous, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TcpRendezvous.class);
  private static final int BUFFER = 1 << 16;

  private final String process;
  private final SSLContext tls;
  private final Map<String, Memory> memories;
  private final Function<String, InetSocketAddress> addresses;
  private final LocalRendezvous here = new LocalRendezvous();
  private final SSLServerSocket server;
  private final Map<String, Peer> peers = new ConcurrentHashMap<>();
  private final AtomicLong sentBytes = new AtomicLong();
  private final Set<Socket> accepted = ConcurrentHashMap.newKeySet();

  /**
   * Begins to listen.
   *
   * @param process the name of this process
   * @param tls has its certificate, and the authority that those of the others have to be of
   * @param bind where it listens
   * @param memories of its devices, by their names without the process
   * @param addresses where the others listen, by their names
   */
  public TcpRendezvous(
      String process,
      SSLContext tls,
      InetSocketAddress bind,
      Map<String, Memory> memories,
      Function<String, InetSocketAddress> addresses)
      throws IOException {
    this.process = process;
    this.tls = tls;
    this.memories = Map.copyOf(memories);
    this.addresses = addresses;
    server = (SSLServerSocket) tls.getServerSocketFactory().createServerSocket();
    server.setNeedClientAuth(true);
    server.bind(bind);
    Thread.ofVirtual().name("accept-" + process).start(this::accept);
  }

  /** The port where it listens. */
  public int port() {
    return server.getLocalPort();
  }

  /** Bytes of values that were sent to others so far, without what frames and TLS add. */
  public long sentBytes() {
    return sentBytes.get();
  }

  @Override
  public void send(Key key, Device to, Value value) {
    if (to.process().equals(process)) {
      here.send(key, to, value);
      return;
    }
    try {
      peer(to.process()).value(key, to.name(), value);
    } catch (IOException e) {
      throw new IllegalStateException(
          "%s could not be sent to %s: %s".formatted(key.name(), to, e.getMessage()), e);
    }
  }

  @Override
  public Value receive(Key key, Device from, Device at, Type type, Memory memory)
      throws InterruptedException {
    return here.receive(key, from, at, type, memory);
  }

  @Override
  public void fail(String run, String why) {
    here.fail(run, why);
    String told = "Process %s: %s".formatted(process, why);
    for (Peer peer : peers.values()) {
      try {
        peer.failure(run, told);
      } catch (IOException e) {
        LOG.debug("{} could not be told of a failure: {}", peer, e.getMessage());
      }
    }
  }

  @Override
  public void forget(String run) {
    here.forget(run);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        accepted.add(socket);
        Thread.ofVirtual().name("receive-" + process).start(() -> read(socket));
      } catch (IOException e) {
        if (!server.isClosed()) {
          LOG.warn("a connection could not be accepted: {}", e.getMessage());
        }
      }
    }
  }

  private void read(Socket socket) {
    String other = "";
    try (socket) {
      socket.setKeepAlive(true);
      DataInputStream in =
          new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
      other = Frames.greeting(in);
      here.found(other);
      while (true) {
        switch (Frames.read(in, memories::get)) {
          case null -> {
            here.lost(other, "Process %s has gone.".formatted(other));
            return;
          }
          case Frames.Frame.Arrival arrival -> deliver(arrival);
          case Frames.Frame.Failure failure -> here.fail(failure.run(), failure.why());
        }
      }
    } catch (IOException | IllegalStateException e) {
      if (!server.isClosed()) {
        LOG.warn("the connection from {} ends: {}", socket.getRemoteSocketAddress(), e.toString());
      }
      here.lost(other, "The connection from process %s broke: %s".formatted(other, e.getMessage()));
    } finally {
      accepted.remove(socket);
    }
  }

  private void deliver(Frames.Frame.Arrival arrival) {
    try {
      here.send(arrival.key(), new Device(process, arrival.device()), arrival.value());
    } finally {
      arrival.value().release();
    }
  }

  /** The one connection to a process: a second that ends would say that this process has gone. */
  private Peer peer(String name) throws IOException {
    Peer peer = peers.get(name);
    if (peer != null && peer.isOpen()) {
      return peer;
    }
    synchronized (peers) {
      Peer before = peers.get(name);
      if (before != null && before.isOpen()) {
        return before;
      }
      Peer next = new Peer(name);
      peers.put(name, next);
      return next;
    }
  }

  /** Ends all connections; who waits fails. */
  @Override
  public void close() throws IOException {
    server.close();
    for (Peer peer : peers.values()) {
      peer.close();
    }
    for (Socket socket : accepted) {
      socket.close();
    }
  }

  /** A connection to another process, for what is sent to it. */
  private final class Peer {
    private final String name;
    private final SSLSocket socket;
    private final DataOutputStream out;

    Peer(String name) throws IOException {
      this.name = name;
      InetSocketAddress address = addresses.apply(name);
      socket =
          (SSLSocket) tls.getSocketFactory().createSocket(address.getAddress(), address.getPort());
      socket.setTcpNoDelay(true);
      out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), BUFFER));
      Frames.greet(out, process);
    }

    boolean isOpen() {
      return !socket.isClosed();
    }

    synchronized void value(Key key, String device, Value value) throws IOException {
      try {
        sentBytes.addAndGet(Frames.value(out, key, device, value.tensor()));
      } catch (IOException e) {
        close(); // Half a frame cannot be taken back.
        throw e;
      }
    }

    synchronized void failure(String run, String why) throws IOException {
      Frames.failure(out, run, why);
    }

    void close() throws IOException {
      socket.close();
    }

    @Override
    public String toString() {
      return name;
    }
  }
}
