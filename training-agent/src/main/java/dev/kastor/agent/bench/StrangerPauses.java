package dev.kastor.agent.bench;

import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.StateTransfer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Pauses of a change from two to three replicas, ring and state, while a process of strangers holds
 * and renews connections to each listener, beside the same without them.
 */
public final class StrangerPauses {
  private static final int REPLICAS = 3;
  private static final int STRANGERS = 140;
  private static final int STATE_BYTES = 4 << 20;
  private static final String OWN_ADDRESS = "127.0.0.1";
  private static final String OTHER_ADDRESS = "127.0.0.2";

  private final List<RingListener> listeners = new ArrayList<>();
  private final List<InetSocketAddress> members = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private long generation;

  private StrangerPauses() {}

  /** Prints one line of JSON for each kind of strangers. Argument: the number of changes. */
  public static void main(String[] arguments)
      throws IOException, InterruptedException, ExecutionException {
    if (arguments.length > 1 && arguments[0].equals("attack")) {
      attack(arguments);
      return;
    }
    String given = arguments.length == 0 ? "200" : arguments[0];
    if (arguments.length > 1 || !given.matches("[1-9][0-9]{0,4}")) {
      System.err.println("Usage: bench/strangers [CHANGES, at least 1]");
      System.exit(2);
    }
    AtomicLong logged = countErrors();
    StrangerPauses pauses = new StrangerPauses();
    try {
      pauses.measure(Integer.parseInt(given), logged);
    } finally {
      for (RingListener listener : pauses.listeners) {
        listener.close();
      }
      pauses.threads.shutdownNow();
    }
  }

  private void measure(int changes, AtomicLong logged)
      throws IOException, InterruptedException, ExecutionException {
    byte[] secret = "between the replicas of one benchmark".getBytes(StandardCharsets.UTF_8);
    RingKey key = new RingKey("bench/strangers", secret, RingCipher.AES_GCM);
    InetAddress loopback = InetAddress.getLoopbackAddress();
    for (int rank = 0; rank < REPLICAS; rank++) {
      listeners.add(RingListener.open(key, RingLimits.DEFAULT, loopback));
      members.add(new InetSocketAddress(loopback, listeners.get(rank).port()));
    }
    pauses(changes); // Warms up.
    double[] without = pauses(changes);
    report("none", without, without, 0);
    for (String address : List.of(OTHER_ADDRESS, OWN_ADDRESS)) {
      long before = logged.get();
      long start = System.nanoTime();
      Process strangers = strangers(address);
      try {
        LockSupport.parkNanos(2_000_000_000L); // All of them are there, and some are refused.
        double[] with = pauses(changes);
        double rate = (logged.get() - before) / ((System.nanoTime() - start) * 1e-9);
        report(
            address.equals(OWN_ADDRESS) ? "the members' address" : "another address",
            with,
            without,
            rate);
      } finally {
        strangers.destroyForcibly().waitFor();
      }
    }
  }

  private static void report(
      String strangers, double[] pauses, double[] without, double logBytesPerSecond) {
    System.out.printf(
        "{\"strangersFrom\": \"%s\", \"p50Seconds\": %.4f, \"p95Seconds\": %.4f, \"ratioOfP95\": %.2f,"
            + " \"logBytesPerSecond\": %.0f}%n",
        strangers,
        quantile(pauses, 0.5),
        quantile(pauses, 0.95),
        quantile(pauses, 0.95) / quantile(without, 0.95),
        logBytesPerSecond);
  }

  private static double quantile(double[] values, double part) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) (part * (sorted.length - 1))];
  }

  private double[] pauses(int changes) throws InterruptedException, ExecutionException {
    double[] seconds = new double[changes];
    for (int change = 0; change < changes; change++) {
      generation++;
      List<Future<Ring>> joining = new ArrayList<>();
      long start = System.nanoTime();
      for (int rank = 0; rank < REPLICAS; rank++) {
        int own = rank;
        joining.add(threads.submit(() -> join(own)));
      }
      List<Ring> rings = new ArrayList<>();
      for (Future<Ring> each : joining) {
        rings.add(each.get());
      }
      seconds[change] = (System.nanoTime() - start) * 1e-9;
      rings.forEach(Ring::close);
    }
    return seconds;
  }

  /** The ring, then the state of the first two for the third. */
  private Ring join(int rank) throws IOException {
    RingListener listener = listeners.get(rank);
    RingLimits limits = RingLimits.DEFAULT;
    listener.refuseBelow(generation);
    Ring ring = Ring.open(listener, generation, rank, members, limits, () -> false);
    StateTransfer transfer =
        new StateTransfer(listener, generation, rank, members, limits, () -> false);
    List<Integer> donors = List.of(0, 1);
    try (Arena arena = Arena.ofShared()) {
      if (rank == 2) {
        transfer.receive(STATE_BYTES, donors, arena);
      } else {
        transfer.send(arena.allocate(STATE_BYTES), donors, List.of(2));
      }
    }
    ring.allGather(new byte[1]);
    return ring;
  }

  private Process strangers(String address) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                StrangerPauses.class.getName(),
                "attack",
                address));
    listeners.forEach(listener -> command.add(Integer.toString(listener.port())));
    return new ProcessBuilder(command).inheritIO().start();
  }

  /** Says two bytes and waits, and comes again as soon as it is turned away. */
  private static void attack(String[] arguments) throws InterruptedException {
    List<Thread> strangers = new ArrayList<>();
    for (int i = 2; i < arguments.length; i++) {
      int port = Integer.parseInt(arguments[i]);
      for (int each = 0; each < STRANGERS; each++) {
        strangers.add(Thread.ofVirtual().start(() -> knock(arguments[1], port)));
      }
    }
    for (Thread stranger : strangers) {
      stranger.join();
    }
  }

  private static void knock(String from, int port) {
    while (true) {
      try (Socket socket = new Socket()) {
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.getOutputStream().write(new byte[2]);
        int _ = socket.getInputStream().read();
      } catch (IOException e) {
        LockSupport.parkNanos(1_000_000); // Out of ports, or the listener has gone.
      }
    }
  }

  /** Counts what the log writes, instead of writing it. */
  private static AtomicLong countErrors() {
    AtomicLong bytes = new AtomicLong();
    System.setErr(
        new PrintStream(
            new OutputStream() {
              @Override
              public void write(int each) {
                bytes.incrementAndGet();
              }

              @Override
              public void write(byte @Nullable [] some, int from, int length) {
                bytes.addAndGet(length);
              }
            },
            true,
            StandardCharsets.UTF_8));
    return bytes;
  }
}
