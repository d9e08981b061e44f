package dev.kastor.agent.bench;

import dev.kastor.agent.ring.GradientExchange;
import dev.kastor.agent.ring.Ring;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.ring.Sums;
import dev.kastor.engine.bench.TrainingStep;
import dev.kastor.engine.profile.Profiler;
import dev.kastor.engine.profile.TraceFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Two processes over loopback: how fast an all-reduce moves bytes, with and without encryption,
 * beside a plain copy that does nothing else, and how much faster two replicas train than one. All
 * of them alternate; medians of ratios.
 */
public final class RingRates {
  private static final int FLOATS = 1 << 22;
  private static final int TIMES = 20;
  private static final int STEPS = 40;

  /** The convolutional network of {@code kastor bench engine}. */
  private static final String MODEL =
      """
      {"kind": "cnn", "batch": 128, "channels": 1, "side": 28, "classes": 10,
       "widths": [32, 64], "hidden": 128}\
      """;

  private final Ring ring;
  private final Ring encrypted;
  private final PlainCopy copy;
  private final float[] data = new float[FLOATS];

  private RingRates(Ring ring, Ring encrypted, PlainCopy copy) {
    this.ring = ring;
    this.encrypted = encrypted;
    this.copy = copy;
  }

  /**
   * Prints one line of JSON. Arguments: the number of rounds, and a file for a trace of a few steps
   * with their exchanges, if one is wanted.
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    if (arguments.length == 4 && arguments[0].equals("follow")) {
      follow(
          Integer.parseInt(arguments[1]),
          Integer.parseInt(arguments[2]),
          Integer.parseInt(arguments[3]));
      return;
    }
    String given = arguments.length == 0 ? "5" : arguments[0];
    if (arguments.length > 2 || !given.matches("[1-9][0-9]{0,3}")) {
      System.err.println("Usage: bench/ring [ROUNDS, at least 1 [TRACE-FILE]]");
      System.exit(2);
    }
    lead(
        Integer.parseInt(given),
        arguments.length == 2 ? Optional.of(Path.of(arguments[1])) : Optional.empty());
  }

  private static RingListener listener(RingCipher cipher) throws IOException {
    byte[] secret = "between two processes of one benchmark".getBytes(StandardCharsets.UTF_8);
    return RingListener.open(
        new RingKey("bench/ring", secret, cipher),
        RingLimits.DEFAULT,
        InetAddress.getLoopbackAddress());
  }

  private static Ring ring(RingListener own, int rank, int first, int second) throws IOException {
    List<InetSocketAddress> members =
        List.of(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), first),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), second));
    return Ring.open(own, 1, rank, members, RingLimits.DEFAULT, () -> false);
  }

  private static void follow(int plainPort, int encryptedPort, int copyPort) throws IOException {
    try (RingListener plain = listener(RingCipher.NONE);
        RingListener sealed = listener(RingCipher.AES_GCM)) {
      System.out.println(plain.port());
      System.out.println(sealed.port());
      try (Ring ring = ring(plain, 1, plainPort, plain.port());
          Ring encrypted = ring(sealed, 1, encryptedPort, sealed.port());
          PlainCopy copy = PlainCopy.connect(copyPort);
          TrainingStep step = TrainingStep.of(MODEL, 1)) {
        RingRates rates = new RingRates(ring, encrypted, copy);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = in.readLine(); order != null; order = in.readLine()) {
          switch (order) {
            case "copy" -> rates.copy();
            case "reduce" -> rates.reduce(ring);
            case "encrypted" -> rates.reduce(encrypted);
            case "afterwards" -> rates.trainAfterwards(step);
            case "train encrypted" -> train(step, encrypted);
            default -> train(step, ring);
          }
        }
      }
    }
  }

  private static void lead(int rounds, Optional<Path> trace)
      throws IOException, InterruptedException {
    try (RingListener plain = listener(RingCipher.NONE);
        RingListener sealed = listener(RingCipher.AES_GCM);
        ServerSocketChannel server = PlainCopy.listen()) {
      int copyPort = ((InetSocketAddress) server.getLocalAddress()).getPort();
      Process follower =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx1g",
                  "-XX:+UseSerialGC",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  RingRates.class.getName(),
                  "follow",
                  Integer.toString(plain.port()),
                  Integer.toString(sealed.port()),
                  Integer.toString(copyPort))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      try (BufferedReader said = follower.inputReader(StandardCharsets.UTF_8);
          PrintStream orders =
              new PrintStream(follower.getOutputStream(), true, StandardCharsets.UTF_8)) {
        String port = said.readLine();
        String sealedPort = said.readLine();
        if (port == null || sealedPort == null) {
          throw new IOException("The second process did not start.");
        }
        try (Ring ring = ring(plain, 0, plain.port(), Integer.parseInt(port));
            Ring encrypted = ring(sealed, 0, sealed.port(), Integer.parseInt(sealedPort));
            PlainCopy copy = PlainCopy.accept(server);
            TrainingStep step = TrainingStep.of(MODEL, 1)) {
          RingRates rates = new RingRates(ring, encrypted, copy);
          rates.measure(rounds, step, orders);
          if (trace.isPresent()) {
            orders.println("train");
            rates.trace(trace.get());
          }
        }
      } finally {
        follower.destroy();
        follower.waitFor();
      }
    }
  }

  private void measure(int rounds, TrainingStep step, PrintStream orders) throws IOException {
    double[] copies = new double[rounds];
    double[] reduces = new double[rounds];
    double[] ratios = new double[rounds];
    double[] encryptedReduces = new double[rounds];
    double[] encryptedRatios = new double[rounds];
    double[] alone = new double[rounds];
    double[] afterwards = new double[rounds];
    double[] together = new double[rounds];
    double[] gains = new double[rounds];
    double[] encryptedTogether = new double[rounds];
    double[] encryptedGains = new double[rounds];
    for (int round = -1; round < rounds; round++) {
      orders.println("copy");
      double copied = copy();
      orders.println("reduce");
      double reduced = reduce(ring);
      orders.println("encrypted");
      double sealed = reduce(encrypted);
      double one = train(step, () -> {});
      orders.println("afterwards");
      double later = trainAfterwards(step);
      orders.println("train");
      double two = train(step, ring);
      orders.println("train encrypted");
      double sealedTwo = train(step, encrypted);
      System.err.printf(
          "round %d: copy %.2f GB/s, all-reduce %.2f GB/s, encrypted %.2f; alone %.1f steps/s, two %.1f, encrypted %.1f, %.1f if they exchange afterwards%n",
          round + 1, copied / 1e9, reduced / 1e9, sealed / 1e9, one, two, sealedTwo, later);
      if (round >= 0) { // The first warms up.
        copies[round] = copied;
        reduces[round] = reduced;
        ratios[round] = reduced / copied;
        encryptedReduces[round] = sealed;
        encryptedRatios[round] = sealed / copied;
        alone[round] = one;
        afterwards[round] = later;
        together[round] = two;
        gains[round] = 2 * two / one;
        encryptedTogether[round] = sealedTwo;
        encryptedGains[round] = 2 * sealedTwo / one;
      }
    }
    System.out.printf(
        "{\"copyBytesPerSecond\": %.3g, \"allReduceBytesPerSecond\": %.3g, \"ratio\": %.3f,"
            + " \"encryptedBytesPerSecond\": %.3g, \"encryptedRatio\": %.3f,"
            + " \"stepsPerSecondAlone\": %.2f, \"stepsPerSecondTogether\": %.2f,"
            + " \"stepsPerSecondAfterwards\": %.2f,"
            + " \"scaling\": %.3f,"
            + " \"stepsPerSecondEncrypted\": %.2f, \"encryptedScaling\": %.3f}%n",
        median(copies),
        median(reduces),
        median(ratios),
        median(encryptedReduces),
        median(encryptedRatios),
        median(alone),
        median(together),
        median(afterwards),
        median(gains),
        median(encryptedTogether),
        median(encryptedGains));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Bytes a second that each process sends, and receives at the same time. */
  private double copy() throws IOException {
    long bytes = (long) TIMES * FLOATS * Float.BYTES;
    long start = System.nanoTime();
    copy.exchange(bytes);
    return bytes / ((System.nanoTime() - start) * 1e-9);
  }

  /** The same of an all-reduce: with two members, each sends as much as it has. */
  private double reduce(Ring ring) throws IOException {
    Arrays.fill(data, 1e-9f);
    long start = System.nanoTime();
    for (int i = 0; i < TIMES; i++) {
      ring.allReduce(data);
    }
    return (long) TIMES * FLOATS * Float.BYTES / ((System.nanoTime() - start) * 1e-9);
  }

  /** Steps a second where gradients are exchanged once all of them are there. */
  private double trainAfterwards(TrainingStep step) throws IOException {
    return train(step, () -> ring.allReduce(step.gradient()));
  }

  /** Steps a second as replicas take them. */
  private static double train(TrainingStep step, Ring ring) throws IOException {
    long start = System.nanoTime();
    for (int i = 0; i < STEPS; i++) {
      try (GradientExchange exchange = new GradientExchange(ring, step.gradient())) {
        double _ = step.run(exchange::ready, exchange::finish);
      }
    }
    return STEPS / ((System.nanoTime() - start) * 1e-9);
  }

  /** As many steps, of which the second half is taken down. */
  private void trace(Path file) throws IOException {
    Profiler profiler = new Profiler();
    List<Runnable> exchanged = Collections.synchronizedList(new ArrayList<>());
    try (TrainingStep step = TrainingStep.profiled(MODEL, 1, profiler)) {
      for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) {
          exchanged.clear();
          profiler.start();
        }
        long start = System.nanoTime();
        long[] passed = new long[1];
        GradientExchange.Listener listener =
            (bucket, from, to) ->
                exchanged.add(() -> profiler.span("exchange", "bucket " + bucket, from, to));
        try (GradientExchange exchange =
            new GradientExchange(ring, new Sums.RingSums(ring), step.gradient(), listener)) {
          step.run(
              exchange::ready,
              () -> {
                passed[0] = System.nanoTime();
                exchange.finish();
              });
        }
        long end = System.nanoTime();
        profiler.span("pass", start, passed[0]);
        profiler.span("the rest of the exchange, update", passed[0], end);
      }
    }
    exchanged.forEach(Runnable::run);
    TraceFile.write(profiler, "two replicas of a convolutional network, one of them", file);
    System.err.println("wrote " + file + "; open it on https://ui.perfetto.dev");
  }

  /** Steps a second. */
  private static double train(TrainingStep step, TrainingStep.Exchange exchange)
      throws IOException {
    long start = System.nanoTime();
    for (int i = 0; i < STEPS; i++) {
      double _ = step.run(exchange);
    }
    return STEPS / ((System.nanoTime() - start) * 1e-9);
  }
}
