package dev.kastor.agent.ring;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** In-process replicas with real listeners, each doing its part in a thread of its own. */
public final class Crew implements AutoCloseable {
  static final String SECRET = "a secret of the job, 32 bytes long";
  static final RingKey KEY = key("team/job", SECRET);

  /** For what hangs: no test that uses them is about time. */
  public static final RingLimits LIMITS =
      limits(Duration.ofMinutes(2), Duration.ofMinutes(2), Duration.ofMinutes(2));

  private final ExecutorService threads = Executors.newCachedThreadPool();

  static RingLimits limits(Duration silence, Duration handshake, Duration connect) {
    return new RingLimits(silence, handshake, handshake, connect);
  }

  static RingKey key(String job, String secret) {
    return new RingKey(job, bytes(secret), RingCipher.AES_GCM);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** A listener of a replica of the job. */
  public static RingListener listen() throws IOException {
    return RingListener.open(KEY, LIMITS, InetAddress.getLoopbackAddress());
  }

  static RingListener listen(RingCipher cipher) throws IOException {
    RingKey key = new RingKey("team/job", bytes(SECRET), cipher);
    return RingListener.open(key, LIMITS, InetAddress.getLoopbackAddress());
  }

  /** Address of a listener. */
  public static InetSocketAddress address(RingListener listener) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port());
  }

  static List<InetSocketAddress> addresses(List<RingListener> listeners) {
    return listeners.stream().map(Crew::address).toList();
  }

  /** Runs a task per rank at once and gives the results in rank order. */
  public <T> List<T> together(int size, Task<T> task)
      throws InterruptedException, ExecutionException {
    List<Future<T>> futures = start(size, task);
    List<T> results = new ArrayList<>();
    for (Future<T> future : futures) {
      results.add(future.get());
    }
    return results;
  }

  /** Starts a task per rank. */
  public <T> List<Future<T>> start(int size, Task<T> task) {
    List<Future<T>> futures = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      int own = rank;
      Callable<T> call = () -> task.run(own);
      futures.add(threads.submit(call));
    }
    return futures;
  }

  List<Ring> rings(List<RingListener> listeners, long generation, RingLimits limits)
      throws InterruptedException, ExecutionException {
    List<InetSocketAddress> addresses = addresses(listeners);
    return together(
        listeners.size(),
        rank -> Ring.open(listeners.get(rank), generation, rank, addresses, limits, () -> false));
  }

  @Override
  public void close() {
    threads.shutdownNow();
    threads.close();
  }

  /** What one rank does. */
  public interface Task<T> {
    /** Does it. */
    T run(int rank) throws Exception;
  }
}
