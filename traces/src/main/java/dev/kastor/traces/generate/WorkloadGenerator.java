package dev.kastor.traces.generate;

import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Makes workloads at random after a study; the same options and seed make the same jobs. */
public final class WorkloadGenerator {
  /**
   * What to make.
   *
   * @param jobs how many
   * @param span from the first possible submission to the last
   * @param startHour hour of the Monday on which it begins, 0 to 23
   * @param maxReplicas bound on sizes; larger ones of the study become this
   * @param seed of all random choices
   */
  public record Options(int jobs, Duration span, int startHour, int maxReplicas, long seed) {
    public Options {
      if (jobs < 1 || !span.isPositive() || maxReplicas < 1) {
        throw new IllegalArgumentException(
            "jobs (%d), span (%s) and maxReplicas (%d) must be above 0"
                .formatted(jobs, span, maxReplicas));
      }
      if (startHour < 0 || startHour > 23) {
        throw new IllegalArgumentException(
            "startHour (%d) must be between 0 and 23".formatted(startHour));
      }
    }
  }

  private final ClusterStudy study;
  private final Options options;
  private final RandomGenerator random;

  private WorkloadGenerator(ClusterStudy study, Options options) {
    this.study = study;
    this.options = options;
    random = new SplittableRandom(options.seed());
  }

  /** Rigid jobs of which only size, duration and outcome are known, as in the study's trace. */
  public static Workload durations(ClusterStudy study, Options options) {
    WorkloadGenerator generator = new WorkloadGenerator(study, options);
    List<Workload.Job> jobs = new ArrayList<>();
    for (double time : generator.times()) {
      int gpus = generator.size();
      double seconds = generator.seconds(gpus);
      jobs.add(Workload.Job.timed("job-" + jobs.size(), time, gpus, seconds, generator.outcome()));
    }
    return new Workload(study.name(), jobs);
  }

  /**
   * Adaptive jobs of given applications. Size and duration of the study choose the application
   * whose work in GPU time is nearest, as Pollux (OSDI 2021, section 5.1) and Sia (SOSP 2023,
   * section 4.1) sort Philly's jobs by GPU time; its owner asks for one of its {@link TunedSizes}
   * at random.
   */
  public static Workload applications(
      ClusterStudy study, Options options, Collection<? extends Application> applications) {
    WorkloadGenerator generator = new WorkloadGenerator(study, options);
    SequencedMap<String, TunedSizes> tuned = generator.tuned(applications);
    List<Workload.Job> jobs = new ArrayList<>();
    for (double time : generator.times()) {
      int gpus = generator.size();
      Map.Entry<String, TunedSizes> chosen = nearest(tuned, gpus * generator.seconds(gpus));
      String name = chosen.getKey();
      List<TunedSizes.Size> sizes = chosen.getValue().sizes();
      TunedSizes.Size size = sizes.get(generator.random.nextInt(sizes.size()));
      jobs.add(
          new Workload.Job(
              name + "-" + jobs.size(),
              time,
              name,
              1,
              Workload.UNBOUNDED,
              size.replicas(),
              size.globalBatch(),
              Workload.Category.ADAPTIVE));
    }
    return new Workload(study.name(), jobs);
  }

  /**
   * Rigid jobs that take whole nodes, and smaller ones of their size whose batch may change: what
   * nodes are hard to fill with. A job of the study with at least {@code gpusPerNode} GPUs becomes
   * a rigid one with a replica for each so many of them, a smaller one has at most as many replicas
   * as GPUs there. Each is of the application whose time on these replicas is nearest to the
   * study's.
   *
   * @param gpusPerNode GPUs of one node that each replica of a rigid job takes
   */
  public static Workload gangs(
      ClusterStudy study,
      Options options,
      int gpusPerNode,
      Collection<? extends Application> applications) {
    WorkloadGenerator generator = new WorkloadGenerator(study, options);
    SequencedMap<String, TunedSizes> tuned = generator.tuned(applications);
    List<Workload.Job> jobs = new ArrayList<>();
    for (double time : generator.times()) {
      int gpus = generator.size();
      boolean gang = gpus >= gpusPerNode;
      int replicas = gang ? gpus / gpusPerNode : gpus;
      String name = nearest(tuned, replicas * generator.seconds(gpus)).getKey();
      jobs.add(
          new Workload.Job(
              (gang ? "gang-" : name + "-") + jobs.size(),
              time,
              name,
              gang ? replicas : 1,
              replicas,
              replicas,
              0,
              gang ? Workload.Category.RIGID : Workload.Category.ADAPTIVE,
              0,
              Outcome.COMPLETED,
              "",
              0,
              gang ? gpusPerNode : 1));
    }
    return new Workload(study.name(), jobs);
  }

  private SequencedMap<String, TunedSizes> tuned(Collection<? extends Application> applications) {
    SequencedMap<String, TunedSizes> tuned = new LinkedHashMap<>();
    applications.forEach(a -> tuned.put(a.name(), new TunedSizes(a, options.maxReplicas())));
    if (tuned.isEmpty()) {
      throw new IllegalArgumentException("there is no application to choose from");
    }
    return tuned;
  }

  private static Map.Entry<String, TunedSizes> nearest(
      SequencedMap<String, TunedSizes> tuned, double gpuSeconds) {
    Map.Entry<String, TunedSizes> best = tuned.firstEntry();
    double least = Double.POSITIVE_INFINITY;
    for (Map.Entry<String, TunedSizes> entry : tuned.entrySet()) {
      double distance = Math.abs(Math.log(entry.getValue().aloneSeconds() / gpuSeconds));
      if (distance < least) {
        least = distance;
        best = entry;
      }
    }
    return best;
  }

  /** Whole seconds, rising. */
  private double[] times() {
    ArrivalClock clock =
        new ArrivalClock(study, options.startHour(), options.span().toMillis() / 1000.0);
    double[] times = new double[options.jobs()];
    for (int i = 0; i < times.length; i++) {
      times[i] = Math.floor(clock.seconds(random.nextDouble()));
    }
    Arrays.sort(times);
    return times;
  }

  private int size() {
    double all = study.sizes().stream().mapToDouble(ClusterStudy.Size::weight).sum();
    double left = random.nextDouble() * all;
    int gpus = study.sizes().getFirst().gpus();
    for (ClusterStudy.Size size : study.sizes()) {
      if (left < 0) {
        break;
      }
      gpus = size.gpus();
      left -= size.weight();
    }
    return Math.min(gpus, options.maxReplicas());
  }

  private double seconds(int gpus) {
    double share = Math.clamp(random.nextDouble(), 1e-9, 1 - 1e-9);
    return Math.max(1, Math.rint(study.durations().seconds(gpus, share)));
  }

  private Outcome outcome() {
    double draw = random.nextDouble();
    if (draw < study.failed()) {
      return Outcome.FAILED;
    }
    return draw < study.failed() + study.killed() ? Outcome.KILLED : Outcome.COMPLETED;
  }
}
