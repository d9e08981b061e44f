package dev.kastor.simulator.bound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Instances so small that every schedule of theirs can be tried. */
final class LowerBoundTest {
  private static final Duration SLOT = Duration.ofSeconds(10);
  private static final int STEPS = 400;

  /**
   * Work of so many seconds on one GPU of speed 1; {@code n} GPUs are {@code n^scaling} times as
   * fast.
   *
   * @param speeds by GPU type; the empty type alone where all are alike
   */
  private record Scaling(
      String name, double seconds, double scaling, int most, SortedMap<String, Double> speeds)
      implements Application {
    Scaling(String name, double seconds, double scaling, int most) {
      this(name, seconds, scaling, most, new TreeMap<>(Map.of("", 1.0)));
    }

    boolean mixes() {
      return speeds.containsKey("");
    }

    double rate(String gpuType, double slots) {
      Double speed = speeds.get(mixes() ? "" : gpuType);
      return speed == null || slots == 0 ? 0 : speed * Math.pow(slots, scaling);
    }

    @Override
    public List<String> gpuTypes() {
      return List.copyOf(speeds.keySet());
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
      return new StepTime(1 / rate(gpuType, Arrays.stream(replicasByNode).sum()), 0);
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

  private static Workload.Job lasting(Workload.Job job, double seconds) {
    return new Workload.Job(
        job.name(),
        job.submitSeconds(),
        job.application(),
        job.minReplicas(),
        job.maxReplicas(),
        job.requestedReplicas(),
        job.globalBatch(),
        job.category(),
        seconds,
        Workload.Outcome.COMPLETED);
  }

  private static double bound(int gpus, Map<String, Application> of, List<Workload.Job> jobs) {
    return bound("1x" + gpus, of, jobs).meanSeconds();
  }

  private static LowerBound bound(
      String cluster, Map<String, Application> of, List<Workload.Job> jobs) {
    return LowerBound.of(
        ClusterShape.parse(cluster), new Workload("w", jobs), of, SLOT, STEPS, _ -> {});
  }

  @Tag("slow")
  @Test
  void aJobAloneTakesTheTimeOfItsBestSize() {
    Scaling of = new Scaling("a", 1000, 0.5, 4);
    assertThat(bound(8, Map.of("a", of), List.of(job(0, 50, of)))).isCloseTo(500, within(1.0));
  }

  /** Jobs whose durations a trace tells have each its own work, whatever their application. */
  @Tag("slow")
  @Test
  void jobsOfOneApplicationThatLastedForDifferentTimesHaveDifferentWork() {
    Scaling of = new Scaling("a", 1000, 0.5, 4);
    Workload.Job shorter = lasting(job(0, 0, of), 200);
    Workload.Job longer = lasting(job(1, 0, of), 2000);
    // On four GPUs twice as fast as on the one for which the trace has the durations.
    assertThat(bound(8, Map.of("a", of), List.of(shorter, longer))).isCloseTo(550, within(2.0));
    assertThat(bound(8, Map.of("a", of), List.of(longer, shorter))).isCloseTo(550, within(2.0));
  }

  /** Their work is taken to be that of a neighbour that has less, so that no schedule is known. */
  @Tag("slow")
  @Test
  void theBoundOfManyDifferentJobsIsBelowThatOfEach() {
    Scaling of = new Scaling("a", 1000, 0, 1);
    List<Workload.Job> jobs = new ArrayList<>();
    double alone = 0;
    for (int i = 0; i < 100; i++) {
      double seconds = 1000 * Math.pow(1.02, i);
      jobs.add(lasting(job(i, 20_000.0 * i, of), seconds));
      alone += seconds / 100;
    }
    LowerBound bound =
        LowerBound.of(
            ClusterShape.parse("1x1"),
            new Workload("w", jobs),
            Map.of("a", of),
            Duration.ofSeconds(500),
            4,
            _ -> {});
    assertThat(bound.meanSeconds()).isBetween(0.85 * alone, alone);
    assertThat(bound.reachedSeconds()).isEmpty();
  }

  /** One of two equal jobs on one GPU waits for the other: 1.5 times the time of one. */
  @Tag("slow")
  @Test
  void whoSharesOneGpuWaits() {
    Scaling of = new Scaling("a", 1000, 0.5, 1);
    double mean = bound(1, Map.of("a", of), List.of(job(0, 0, of), job(1, 0, of)));
    assertThat(mean).isLessThanOrEqualTo(1500 + 1e-6).isGreaterThan(1500 * 0.97);
  }

  /** Where one GPU of a type is as good as two of the other, the best of both counts. */
  @Tag("slow")
  @Test
  void aJobAloneTakesItsBestGpuType() {
    Scaling of = new Scaling("a", 1000, 0.5, 4, new TreeMap<>(Map.of("fast", 3.0, "slow", 1.0)));
    LowerBound bound = bound("fast=1x1,slow=1x4", Map.of("a", of), List.of(job(0, 0, of)));
    assertThat(bound.meanSeconds()).isCloseTo(1000 / 3.0, within(1.0));
    assertThat(bound.reachedSeconds()).hasValueCloseTo(1000 / 3.0, within(1.0));
  }

  /** What does not tell GPU types apart holds several at once, as it may in a replay. */
  @Tag("slow")
  @Test
  void aJobOfNoTypeTakesThemAll() {
    Scaling of = new Scaling("a", 1000, 1, 8);
    LowerBound bound = bound("p=1x2,q=1x3", Map.of("a", of), List.of(job(0, 0, of)));
    assertThat(bound.meanSeconds()).isCloseTo(200, within(1.0));
    assertThat(bound.reachedSeconds()).hasValueCloseTo(200.0, within(1.0));
  }

  @Test
  void saysWhichJobCanRunNowhere() {
    Scaling of = new Scaling("a", 1000, 1, 8, new TreeMap<>(Map.of("p", 0.0)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bound("p=1x2", Map.of("a", of), List.of(job(0, 0, of))))
        .withMessageContaining("job-0 has no lower bound");
  }

  @Test
  void isTheSameWhenReadBack() {
    LowerBound bound = new LowerBound(12.5, OptionalDouble.of(13), Duration.ofMillis(2500), 0.001);
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    bound.put(json);
    assertThat(LowerBound.of(json)).contains(bound);
    json.remove("slotSeconds");
    assertThat(LowerBound.of(json)).isEmpty();
    assertThat(bound.text()).contains("below 13 s", "at most 4.0 % above", "slots of 2.5 s");
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void isNeverAboveTheBestOfAllSchedules(boolean twoTypes) {
    distances(20, twoTypes);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("nightly")
  void isNeverAboveTheBestOfAllSchedulesAndNearIt(boolean twoTypes) {
    assertThat(distances(100, twoTypes))
        .as("mean distances of the bound and of the schedule")
        .allSatisfy(distance -> assertThat(distance).isLessThan(0.15));
  }

  /** Mean distances of the bound and of its schedule from the best of all, each checked. */
  private static List<Double> distances(int instances, boolean twoTypes) {
    double far = 0;
    double above = 0;
    for (int seed = 0; seed < instances; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SequencedMap<String, Integer> gpus = new LinkedHashMap<>();
      if (twoTypes) {
        gpus.put("p", 1 + random.nextInt(2));
        gpus.put("q", 1 + random.nextInt(2));
      } else {
        gpus.put("", 1 + random.nextInt(4));
      }
      int count = 1 + random.nextInt(twoTypes ? 3 : 4);
      Map<String, Application> applications = new HashMap<>();
      List<Workload.Job> jobs = new ArrayList<>();
      List<Scaling> kinds = new ArrayList<>();
      for (int j = 0; j < count; j++) {
        // So that a slot on one or on four GPUs ends a whole number of parts of the work.
        double scaling = random.nextBoolean() ? 0.5 : 1;
        double seconds = 10.0 * (1 + random.nextInt(4));
        Scaling of = new Scaling("k" + j, seconds, scaling, 4, speeds(twoTypes, random));
        applications.put(of.name(), of);
        kinds.add(of);
        jobs.add(job(j, 10.0 * random.nextInt(3), of));
      }
      double best = new Exhaustive(gpus, kinds, jobs).mean();
      LowerBound bound = bound(cluster(gpus), applications, jobs);
      assertThat(bound.meanSeconds()).as("seed %d", seed).isLessThanOrEqualTo(best * 1.001);
      double reached = bound.reachedSeconds().orElseThrow();
      // In parts of a cell a place of the work is read with some error.
      assertThat(reached).as("seed %d", seed).isGreaterThanOrEqualTo(best * 0.999);
      far += 1 - bound.meanSeconds() / best;
      above += reached / best - 1;
    }
    return List.of(far / instances, above / instances);
  }

  /** Half as fast, as fast or twice as fast on the second type; some run on one type only. */
  private static SortedMap<String, Double> speeds(boolean twoTypes, SplittableRandom random) {
    SortedMap<String, Double> speeds = new TreeMap<>();
    switch (twoTypes ? random.nextInt(4) : 0) {
      case 0 -> speeds.put("", 1.0);
      case 1 -> speeds.put(random.nextBoolean() ? "p" : "q", 1.0);
      default -> {
        speeds.put("p", 1.0);
        speeds.put("q", 0.5 * (1 << random.nextInt(3)));
      }
    }
    return speeds;
  }

  private static String cluster(SequencedMap<String, Integer> gpus) {
    return gpus.entrySet().stream()
        .map(each -> (each.getKey().isEmpty() ? "" : each.getKey() + "=") + "1x" + each.getValue())
        .collect(Collectors.joining(","));
  }

  /** The least mean of all schedules that change once a slot, found by trying all of them. */
  private static final class Exhaustive {
    private static final double TINY = 1e-9;

    private final List<String> types;
    private final int[] gpus;
    private final List<Scaling> kinds;
    private final List<Workload.Job> jobs;
    private final Map<List<Long>, Double> known = new HashMap<>();

    Exhaustive(SequencedMap<String, Integer> gpus, List<Scaling> kinds, List<Workload.Job> jobs) {
      types = List.copyOf(gpus.keySet());
      this.gpus = gpus.values().stream().mapToInt(count -> count).toArray();
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

    private double choose(
        int slot, int job, int[] free, double[] left, double[] next, double spent) {
      if (job == left.length) {
        // Who waits for ever is no schedule.
        return Arrays.equals(left, next) && arrived(slot, left)
            ? Double.POSITIVE_INFINITY
            : spent + rest(slot + 1, next);
      }
      if (left[job] <= TINY || jobs.get(job).submitSeconds() > slot * 10.0 + TINY) {
        return choose(slot, job + 1, free, left, next, spent);
      }
      Scaling kind = kinds.get(job);
      double least = Double.POSITIVE_INFINITY;
      for (int[] taken : choices(free, kind.mixes())) {
        double rate = 0;
        int[] rest = free.clone();
        if (kind.mixes()) {
          rate = kind.rate("", Arrays.stream(taken).sum());
        }
        for (int p = 0; p < taken.length; p++) {
          rest[p] -= taken[p];
          if (taken[p] > 0 && !kind.mixes()) {
            rate = kind.rate(types.get(p), taken[p]);
          }
        }
        if (Arrays.stream(taken).sum() > 0 && rate == 0) {
          continue;
        }
        double done = Math.min(left[job], 10 * rate);
        next[job] = left[job] - done;
        double there = next[job] <= TINY ? done / rate : 10;
        least = Math.min(least, choose(slot, job + 1, rest, left, next, spent + there));
      }
      next[job] = left[job];
      return least;
    }

    /** Slots by type that one job may take: of one type, or of all. */
    private static List<int[]> choices(int[] free, boolean mixes) {
      List<int[]> all = new ArrayList<>(List.of(new int[free.length]));
      for (int p = 0; p < free.length; p++) {
        for (int[] before : List.copyOf(all)) {
          for (int more = 1; more <= free[p] && (mixes || isNone(before)); more++) {
            int[] taken = before.clone();
            taken[p] = more;
            all.add(taken);
          }
        }
      }
      return all;
    }

    private static boolean isNone(int[] taken) {
      return Arrays.stream(taken).allMatch(count -> count == 0);
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
