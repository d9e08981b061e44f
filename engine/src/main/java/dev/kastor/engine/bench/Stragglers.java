package dev.kastor.engine.bench;

import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.parameters.Accumulator;
import dev.kastor.engine.parameters.SharedTraining;
import dev.kastor.engine.partition.LocalRendezvous;
import dev.kastor.engine.partition.PartitionedSession;
import dev.kastor.engine.placement.Device;
import dev.kastor.engine.placement.Placer;
import dev.kastor.engine.placement.RoughCosts;
import dev.kastor.engine.resource.HostCall;
import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Workers that are slow now and then, with delays of a heavy tail: the time of a synchronous step
 * by the number of spare workers (the shape of Abadi et al., OSDI 2016, figure 8), and the
 * staleness of asynchronous updates. The arithmetic is next to nothing; the delays are real.
 */
public final class Stragglers {
  private static final long CAP = 1 << 26;
  private static final int WIDTH = 16;
  private static final int MOST_SPARE = 12;
  private static final int MOST_STALENESS = 40;

  /** Milliseconds that a worker takes when nothing is in its way. */
  private static final double USUAL = 10;

  private static final Device SERVER = new Device("server", "cpu:0");

  private final int needed;
  private final int steps;

  private Stragglers(int needed, int steps) {
    this.needed = needed;
    this.steps = steps;
  }

  /** Prints a line of JSON for each number of spare workers and one for asynchronous updates. */
  public static void main(String[] arguments) throws InterruptedException, ExecutionException {
    boolean fits = Arrays.stream(arguments).allMatch(text -> text.matches("[1-9][0-9]{0,3}"));
    if (arguments.length > 2 || !fits) {
      System.err.println("Usage: bench/stragglers [WORKERS] [STEPS], each at least 1");
      System.exit(2);
    }
    int workers = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20;
    int steps = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 100;
    Stragglers stragglers = new Stragglers(workers, steps);
    for (int spare = 0; spare <= MOST_SPARE; spare++) {
      double[] millis = stragglers.synchronous(spare);
      Arrays.sort(millis);
      double mean = Arrays.stream(millis).average().orElse(0);
      System.out.printf(
          Locale.ROOT,
          "{\"needed\": %d, \"spare\": %d, \"stepMillisMean\": %.1f, \"stepMillisMedian\": %.1f,"
              + " \"meanTimesMachines\": %.1f}%n",
          workers,
          spare,
          mean,
          millis[millis.length / 2],
          mean * (workers + spare) / workers);
    }
    System.out.printf(
        Locale.ROOT,
        "{\"workers\": %d, \"staleness\": %s}%n",
        workers,
        Arrays.toString(stragglers.asynchronous()));
  }

  /** A lognormal delay, and sometimes ten times that. */
  private static HostCall delayed(int worker) {
    SplittableRandom random = new SplittableRandom(worker);
    List<Type> types = List.of(Type.f32(WIDTH));
    return new HostCall(
        "delay",
        types,
        types,
        (operands, results) -> {
          double millis = USUAL * Math.exp(0.3 * random.nextGaussian());
          if (random.nextDouble() < 0.05) {
            millis *= 10;
          }
          try {
            TimeUnit.MICROSECONDS.sleep((long) (millis * 1000));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          results.getFirst().write(operands.getFirst().floats(), 0);
        });
  }

  /** The squared length of the variable, which is late. */
  private static Node loss(int worker, Node read) {
    Node late = delayed(worker).call(List.of(read)).at("worker" + worker);
    Node sum = read.add(late.multiply(0));
    return sum.multiply(sum).sum(0, 1);
  }

  private static Session session() {
    return new Session(Backends.fastest(1).backend(), CAP, 1);
  }

  private static PartitionedSession partitioned(int worker, Session server, Session own) {
    Device device = new Device("worker" + worker, "cpu:0");
    return new PartitionedSession(
        device.process(),
        Map.of(SERVER, server, device, own),
        new Placer(List.of(SERVER, device), RoughCosts.TYPICAL, device.process()),
        new LocalRendezvous());
  }

  private static SharedTraining training() {
    float[] initial = new float[WIDTH];
    Arrays.fill(initial, 1);
    return new SharedTraining(
        List.of(new Variable("w", Shape.of(WIDTH), initial)), SERVER.toString());
  }

  private double[] synchronous(int spare) throws InterruptedException, ExecutionException {
    SharedTraining training = training();
    double[] millis = new double[steps];
    try (Session server = session();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < needed + spare; i++) {
        int number = i;
        workers.add(
            threads.submit(() -> {
              takePart(number, training, server);
              return null;
            }));
      }
      Node step = training.serverStep(needed, 0.01);
      for (int i = 0; i < steps; i++) {
        long start = System.nanoTime();
        server.run(List.of(step)).close();
        millis[i] = (System.nanoTime() - start) / 1e6;
      }
      for (Future<?> worker : workers) {
        worker.get();
      }
    }
    // The first compiles.
    return Arrays.copyOfRange(millis, 1, steps);
  }

  private void takePart(int worker, SharedTraining training, Session server)
      throws InterruptedException {
    var graph = training.synchronous(read -> loss(worker, read.getFirst()));
    try (Arena arena = Arena.ofShared();
        Session own = session();
        PartitionedSession session = partitioned(worker, server, own)) {
      Tensor last = Tensor.allocate(arena, Shape.of(), Accumulator.STEP.dtype());
      last.segment().set(ValueLayout.JAVA_INT, 0, -1);
      while (last.segment().get(ValueLayout.JAVA_INT, 0) < steps - 1) {
        try (Results results = session.run(Map.of(graph.last(), last), graph.fetches())) {
          int step = results.get(0).segment().get(ValueLayout.JAVA_INT, 0);
          last.segment().set(ValueLayout.JAVA_INT, 0, step);
        }
      }
    }
  }

  private int[] asynchronous() throws InterruptedException, ExecutionException {
    SharedTraining training = training();
    try (Session server = session();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < needed; i++) {
        int number = i;
        workers.add(
            threads.submit(() -> {
              update(number, training, server);
              return null;
            }));
      }
      for (Future<?> worker : workers) {
        worker.get();
      }
      try (Results results = server.run(List.of(training.staleness(MOST_STALENESS)))) {
        float[] counts = results.get(0).floats();
        int[] whole = new int[counts.length];
        for (int i = 0; i < whole.length; i++) {
          whole[i] = (int) counts[i];
        }
        return whole;
      }
    }
  }

  private void update(int worker, SharedTraining training, Session server)
      throws InterruptedException {
    var graph = training.asynchronous(read -> loss(worker, read.getFirst()), 0.001);
    try (Session own = session();
        PartitionedSession session = partitioned(worker, server, own)) {
      for (int i = 0; i < steps; i++) {
        session.run(Map.of(), graph.fetches()).close();
      }
    }
  }
}
