package dev.kastor.simulator.bench;

import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanDiff;
import dev.kastor.scheduler.plan.PlanViolation;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures decisions of one policy on one thread: many after about 2 % of the jobs have changed,
 * half as many after a single arrival or exit. All jobs get older and make progress in between.
 */
public final class DecideBenchmark {
  private static final DecisionScene.Turnover TURNOVER = new DecisionScene.Turnover(0.01, 0.01);
  private static final int LEAST_WARM_UP = 3;

  private final DecideCase measured;
  private final long longestNanos;
  private final Consumer<String> progress;
  private final Policy policy;
  private final DecisionScene scene;
  private Snapshot snapshot;
  private double aroundMillis;
  private long changes;
  private int decisions;

  private DecideBenchmark(
      DecideCase measured, Duration longest, long seed, Consumer<String> progress) {
    this.measured = measured;
    this.progress = progress;
    longestNanos = longest.toNanos();
    PolicyFactory factory = PolicyFactory.of(measured.policy(), PolicyContext.online(seed));
    policy = factory.create();
    scene =
        new DecisionScene(factory.traits().control(), measured.jobs(), measured.gpus(), TURNOVER);
    snapshot = scene.snapshot();
  }

  /**
   * Measures a case.
   *
   * @param longest after this time no further decision begins, so that there may be fewer
   * @param progress gets a line now and then
   * @throws IllegalStateException if the policy breaks a rule
   */
  public static DecideResult run(
      DecideCase measured, Duration longest, long seed, Consumer<String> progress)
      throws IOException {
    System.gc();
    ResidentMemory.restart();
    return new DecideBenchmark(measured, longest, seed, progress).run();
  }

  private DecideResult run() throws IOException {
    long began = System.nanoTime();
    Times first = new Times(1);
    Plan plan = decide(first);
    int warmUp = Math.max(LEAST_WARM_UP, measured.decisions() / 5);
    for (int i = 0; i < warmUp && !late(began); i++) {
      scene.carryOut(plan);
      plan = decide(new Times(1));
    }
    aroundMillis = 0;
    changes = 0;
    decisions = 0;
    Times full = new Times(measured.decisions());
    while (full.wanted() && (full.count == 0 || !late(began))) {
      scene.carryOut(plan);
      plan = decide(full);
      tell("decisions", full);
    }
    double around = aroundMillis / decisions;
    double meanChanges = (double) changes / decisions;
    Times one = new Times(Math.max(2, measured.decisions() / 2));
    while (one.wanted() && (one.count < 2 || !late(began))) {
      if (one.count % 2 == 0) {
        scene.carryOutAndArrive(plan);
      } else {
        scene.carryOutAndEnd(plan);
      }
      plan = decide(one);
      tell("arrivals and exits", one);
    }
    return new DecideResult(
        new DecideCase(measured.policy(), measured.jobs(), measured.gpus(), full.count),
        first.wall[0],
        Spread.of(Arrays.copyOf(full.wall, full.count)),
        Spread.of(Arrays.copyOf(full.cpu, full.count)),
        Spread.of(Arrays.copyOf(one.wall, one.count)),
        around,
        meanChanges,
        ResidentMemory.peakBytes());
  }

  private Plan decide(Times times) {
    long start = System.nanoTime();
    snapshot = scene.snapshot();
    long before = System.nanoTime();
    long cpuBefore = cpuNanos();
    Plan plan = policy.plan(snapshot);
    long cpuAfter = cpuNanos();
    long after = System.nanoTime();
    List<PlanViolation> violations = PlanCheck.violations(snapshot, plan);
    List<Change> diff = PlanDiff.changes(snapshot, plan);
    long end = System.nanoTime();
    if (!violations.isEmpty()) {
      throw new IllegalStateException(
          "policy %s broke a rule: %s"
              .formatted(measured.policy(), violations.getFirst().message()));
    }
    times.add((after - before) * 1e-6, (cpuAfter - cpuBefore) * 1e-6);
    aroundMillis += (end - after + before - start) * 1e-6;
    changes += diff.size();
    decisions++;
    return plan;
  }

  private void tell(String what, Times times) {
    int tenth = Math.max(1, times.wall.length / 10);
    if (times.count % tenth == 0) {
      progress.accept(
          "%s, %d jobs x %d GPUs: %d of %d %s"
              .formatted(
                  measured.policy(),
                  measured.jobs(),
                  measured.gpus(),
                  times.count,
                  times.wall.length,
                  what));
    }
  }

  private boolean late(long began) {
    return System.nanoTime() - began > longestNanos;
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** Milliseconds of some decisions, of the clock and of the processor. */
  private static final class Times {
    final double[] wall;
    final double[] cpu;
    int count;

    Times(int most) {
      wall = new double[most];
      cpu = new double[most];
    }

    boolean wanted() {
      return count < wall.length;
    }

    void add(double wallMillis, double cpuMillis) {
      wall[count] = wallMillis;
      cpu[count++] = cpuMillis;
    }
  }
}
