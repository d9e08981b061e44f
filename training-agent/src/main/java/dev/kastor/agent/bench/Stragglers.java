package dev.kastor.agent.bench;

import dev.kastor.engine.train.ServerPlan;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Steps with parameter servers whose workers are slow now and then, with times of a heavy tail: the
 * time of a synchronous step by the number of spare workers (the shape of Abadi et al., OSDI 2016,
 * figure 8), and the staleness of asynchronous updates.
 *
 * <p>Time is simulated, so results depend on the arguments alone; what a worker needs to read
 * parameters and to send its gradient is not part of it ({@link SimulatedWorkers}).
 */
public final class Stragglers {
  private static final int MOST_SPARE = 12;
  private static final int MOST_STALENESS = 40;

  /** Milliseconds that a worker takes when nothing is in its way. */
  private static final double USUAL = 10;

  private final int needed;
  private final int steps;

  private Stragglers(int needed, int steps) {
    this.needed = needed;
    this.steps = steps;
  }

  /** Prints a line of JSON for each number of spare workers and one for asynchronous updates. */
  public static void main(String[] arguments) {
    boolean fits = Arrays.stream(arguments).allMatch(text -> text.matches("[1-9][0-9]{0,4}"));
    if (arguments.length > 2 || !fits) {
      System.err.println("Usage: bench/stragglers [WORKERS] [STEPS], each from 1 to 99999");
      System.exit(2);
    }
    int workers = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20;
    int steps = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1000;
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

  /** Lognormal times, and sometimes ten times that. */
  private static IntToLongFunction times(int workers) {
    SplittableRandom[] randoms =
        IntStream.range(0, workers)
            .mapToObj(SplittableRandom::new)
            .toArray(SplittableRandom[]::new);
    return worker -> {
      SplittableRandom random = randoms[worker];
      double millis = USUAL * Math.exp(0.3 * random.nextGaussian());
      return (long) (1e6 * (random.nextDouble() < 0.05 ? 10 * millis : millis));
    };
  }

  private double[] synchronous(int spare) {
    int workers = needed + spare;
    SimulatedWorkers simulated =
        new SimulatedWorkers(new ServerPlan(1, false, spare, 0), workers, times(workers));
    double[] millis = new double[steps];
    long begun = 0;
    for (int i = 0; i < steps; i++) {
      long end = simulated.next().nanos();
      millis[i] = (end - begun) / 1e6;
      begun = end;
    }
    return millis;
  }

  /** Updates by their staleness; the last number counts all above. */
  private int[] asynchronous() {
    SimulatedWorkers simulated =
        new SimulatedWorkers(new ServerPlan(1, true, 0, 0), needed, times(needed));
    int[] counts = new int[MOST_STALENESS + 1];
    for (long i = 0; i < (long) steps * needed; i++) {
      counts[(int) Math.min(MOST_STALENESS, simulated.next().staleness())]++;
    }
    return counts;
  }
}
