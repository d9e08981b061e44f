package dev.kastor.simulator.bench;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;

/**
 * Measures how much processor time a decision of each policy takes as jobs and GPUs grow, prints
 * tables in Markdown and draws them. A policy is not measured beyond the first size at which one
 * decision takes longer than {@value #LONGEST_SECONDS} s.
 */
public final class DecisionBenchmark {
  private static final int[] JOBS = {10, 30, 100, 300, 1000};
  private static final int[] GPUS = {64, 256, 1024, 4096};
  private static final int FIXED_JOBS = 100;
  private static final int FIXED_GPUS = 256;
  private static final double LONGEST_SECONDS = 10;
  private static final double SECONDS_A_CELL = 3;
  private static final int MOST_DECISIONS = 200;
  private static final int WARM_UP = 5;

  private DecisionBenchmark() {}

  /**
   * Runs it.
   *
   * @param arguments the PNG to write, then the policies (default: all)
   */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length < 1) {
      throw new IllegalArgumentException("usage: PNG [POLICY...]");
    }
    List<String> policies =
        arguments.length > 1 ? List.of(arguments).subList(1, arguments.length) : Policies.names();
    SequencedMap<String, double[]> byJobs = new LinkedHashMap<>();
    SequencedMap<String, double[]> byGpus = new LinkedHashMap<>();
    for (String policy : policies) {
      byJobs.put(policy, series(policy, JOBS, true));
      byGpus.put(policy, series(policy, GPUS, false));
    }
    print("jobs on %d GPUs".formatted(FIXED_GPUS), JOBS, byJobs);
    print("GPUs for %d jobs".formatted(FIXED_JOBS), GPUS, byGpus);
    DecisionChart.write(
        Path.of(arguments[0]),
        new DecisionChart.Panel("jobs on %d GPUs".formatted(FIXED_GPUS), JOBS, byJobs),
        new DecisionChart.Panel("GPUs for %d jobs".formatted(FIXED_JOBS), GPUS, byGpus));
  }

  /** Median milliseconds by size; not a number beyond what the policy can do in time. */
  private static double[] series(String policy, int[] sizes, boolean jobsGrow) {
    double[] millis = new double[sizes.length];
    Arrays.fill(millis, Double.NaN);
    // Once for nothing, so that the smallest size does not pay for compiling the policy.
    median(policy, JOBS[0], GPUS[0]);
    for (int i = 0; i < sizes.length; i++) {
      OptionalDouble median =
          jobsGrow ? median(policy, sizes[i], FIXED_GPUS) : median(policy, FIXED_JOBS, sizes[i]);
      if (median.isEmpty()) {
        break;
      }
      millis[i] = median.getAsDouble();
      System.err.printf(
          Locale.ROOT,
          "%s, %d %s: %.3f ms%n",
          policy,
          sizes[i],
          jobsGrow ? "jobs" : "GPUs",
          millis[i]);
    }
    return millis;
  }

  private static OptionalDouble median(String name, int jobs, int gpus) {
    PolicyFactory factory = Policies.factory(name, PolicyContext.online(1));
    Policy policy = factory.create();
    DecisionScene scene = new DecisionScene(factory.traits().control(), jobs, gpus);
    List<Double> millis = new ArrayList<>();
    long began = System.nanoTime();
    int decisions = 0;
    while (millis.size() < MOST_DECISIONS
        && (millis.isEmpty() || seconds(began) < SECONDS_A_CELL)) {
      Snapshot snapshot = scene.snapshot();
      long before = cpuNanos();
      Plan plan = policy.plan(snapshot);
      double took = (cpuNanos() - before) * 1e-9;
      if (took > LONGEST_SECONDS) {
        return OptionalDouble.empty();
      }
      // The first decisions run code that is not compiled yet and start jobs in bulk.
      if (++decisions > WARM_UP || seconds(began) > SECONDS_A_CELL) {
        millis.add(took * 1e3);
      }
      scene.carryOut(plan);
    }
    millis.sort(null);
    return OptionalDouble.of(millis.get(millis.size() / 2));
  }

  /** Processor time of this thread, which other processes do not lengthen. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }

  private static void print(String title, int[] sizes, Map<String, double[]> series) {
    StringBuilder table = new StringBuilder("| median CPU ms, ").append(title).append(" |");
    for (int size : sizes) {
      table.append(' ').append(size).append(" |");
    }
    table.append("\n|").append("---|".repeat(sizes.length + 1)).append('\n');
    series.forEach((policy, millis) -> {
      table.append("| ").append(policy).append(" |");
      for (double one : millis) {
        table.append(
            Double.isNaN(one)
                ? " – |"
                : String.format(Locale.ROOT, one < 10 ? " %.2f |" : " %.0f |", one));
      }
      table.append('\n');
    });
    System.out.println(table);
  }
}
