package dev.kastor.simulator.bound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Instances so small that every schedule of theirs can be tried. */
final class LowerBoundTest {
  private static final Duration SLOT = Duration.ofSeconds(10);
  private static final int STEPS = 400;

  /** Work of so many seconds on one GPU; {@code n} GPUs are {@code n^scaling} times as fast. */
  private record Scaling(String name, double seconds, double scaling, int most)
      implements Application {
    @Override
    public List<String> gpuTypes() {
      return List.of("");
    }

    @Override
    public BatchLimits batchLimits(String gpuType) {
      return new BatchLimits(64, 64, 1, 64, true);
    }

    @Override
    public int maxReplicas() {
      return most;
    }

    @Override
    public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
      return new StepTime(1 / Math.pow(Arrays.stream(replicasByNode).sum(), scaling), 0);
    }

    @Override
    public int epochs() {
      return 1;
    }

    @Override
    public double progressAt(int epoch) {
      return epoch * seconds;
    }

    @Override
    public GradientStats gradient(int globalBatch, int finishedEpochs) {
      return new GradientStats(1, 0, 64);
    }

    @Override
    public double remainingSteps(int globalBatch, int finishedEpochs) {
      return seconds;
    }

    @Override
    public double restartSeconds() {
      return 30;
    }
  }

  private static Workload.Job job(int index, double submit, Application of) {
    return new Workload.Job(
        "job-" + index, submit, of.name(), 1, of.maxReplicas(), 1, 0, Workload.Category.ADAPTIVE);
  }

  private static double bound(int gpus, Map<String, Application> of, List<Workload.Job> jobs) {
    return LowerBound.of(
            ClusterShape.parse("1x" + gpus), new Workload("w", jobs), of, SLOT, STEPS, _ -> {})
        .meanSeconds();
  }

  @Test
  void aJobAloneTakesTheTimeOfItsBestSize() {
    Scaling of = new Scaling("a", 1000, 0.5, 4);
    assertThat(bound(8, Map.of("a", of), List.of(job(0, 50, of)))).isCloseTo(500, within(1.0));
  }

  /** One of two equal jobs on one GPU waits for the other: 1.5 times the time of one. */
  @Test
  void whoSharesOneGpuWaits() {
    Scaling of = new Scaling("a", 1000, 0.5, 1);
    double mean = bound(1, Map.of("a", of), List.of(job(0, 0, of), job(1, 0, of)));
    assertThat(mean).isLessThanOrEqualTo(1500 + 1e-6).isGreaterThan(1500 * 0.97);
  }

  /** The least mean of all schedules that change once a slot, found by trying all of them. */
  @ParameterizedTest
  @ValueSource(ints = 100)
  void isNeverAboveTheBestOfAllSchedulesAndNearIt(int instances) {
    double far = 0;
    for (int seed = 0; seed < instances; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int gpus = 1 + random.nextInt(4);
      int count = 1 + random.nextInt(4);
      Map<String, Application> applications = new HashMap<>();
      List<Workload.Job> jobs = new ArrayList<>();
      List<Scaling> kinds = new ArrayList<>();
      for (int j = 0; j < count; j++) {
        // So that a slot on one or on four GPUs ends a whole number of parts of the work.
        double scaling = random.nextBoolean() ? 0.5 : 1;
        Scaling of = new Scaling("k" + j, 10.0 * (1 + random.nextInt(4)), scaling, 4);
        applications.put(of.name(), of);
        kinds.add(of);
        jobs.add(job(j, 10.0 * random.nextInt(3), of));
      }
      double best = new Exhaustive(gpus, kinds, jobs).mean();
      double bound = bound(gpus, applications, jobs);
      assertThat(bound).as("seed %d", seed).isLessThanOrEqualTo(best * 1.001);
      far += 1 - bound / best;
    }
    assertThat(far / instances).as("mean distance").isLessThan(0.15);
  }

  /** Tries every schedule of a few jobs that changes once a slot. */
  private static final class Exhaustive {
    private static final double TINY = 1e-9;

    private final int gpus;
    private final List<Scaling> kinds;
    private final List<Workload.Job> jobs;
    private final Map<List<Long>, Double> known = new HashMap<>();

    Exhaustive(int gpus, List<Scaling> kinds, List<Workload.Job> jobs) {
      this.gpus = gpus;
      this.kinds = kinds;
      this.jobs = jobs;
    }

    double mean() {
      double[] left = kinds.stream().mapToDouble(Scaling::seconds).toArray();
      return rest(0, left) / jobs.size();
    }

    /** Least sum of the times from a slot on that jobs are there. */
    private double rest(int slot, double[] left) {
      if (Arrays.stream(left).allMatch(work -> work <= TINY)) {
        return 0;
      }
      List<Long> key = new ArrayList<>(List.of((long) slot));
      Arrays.stream(left).forEach(work -> key.add(Math.round(work * 1e6)));
      Double before = known.get(key);
      if (before == null) {
        before = choose(slot, 0, gpus, left, left.clone(), 0);
        known.put(key, before);
      }
      return before;
    }

    private double choose(int slot, int job, int free, double[] left, double[] next, double spent) {
      if (job == left.length) {
        // Who waits for ever is no schedule.
        return Arrays.equals(left, next) && arrived(slot, left)
            ? Double.POSITIVE_INFINITY
            : spent + rest(slot + 1, next);
      }
      if (left[job] <= TINY || jobs.get(job).submitSeconds() > slot * 10.0 + TINY) {
        return choose(slot, job + 1, free, left, next, spent);
      }
      double least = Double.POSITIVE_INFINITY;
      for (int size = 0; size <= free; size++) {
        double rate = size == 0 ? 0 : Math.pow(size, kinds.get(job).scaling());
        double done = Math.min(left[job], 10 * rate);
        next[job] = left[job] - done;
        double there = next[job] <= TINY ? done / rate : 10;
        least = Math.min(least, choose(slot, job + 1, free - size, left, next, spent + there));
      }
      next[job] = left[job];
      return least;
    }

    private boolean arrived(int slot, double[] left) {
      for (int j = 0; j < left.length; j++) {
        if (left[j] > TINY && jobs.get(j).submitSeconds() <= slot * 10.0 + TINY) {
          return true;
        }
      }
      return false;
    }
  }
}
