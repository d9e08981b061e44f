package dev.kastor.simulator.bound;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.event.EventSpecs;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Lower bound of the mean completion time of a workload: a schedule that knows all jobs and their
 * true goodput, packs perfectly and pays no pause is not below it.
 *
 * <p>Each GPU has a price in each time slot; each job alone then takes the schedule of its own that
 * costs it least in time and prices together. The sum over jobs less the price of all GPUs is a
 * bound for any prices (Lagrangian relaxation). Good prices are found by ascent: a price rises
 * where jobs ask for more GPUs than there are, and falls where they ask for fewer.
 *
 * @param meanSeconds the bound
 * @param slot length of a time slot: within it a job changes nothing, and it may begin with the one
 *     in which it arrives
 * @param stillRising share of the bound by which the last quarter of the ascent raised it
 */
public record LowerBound(double meanSeconds, Duration slot, double stillRising) {
  /** Steps of the ascent that bring the bound near its best. */
  public static final int ENOUGH_STEPS = 160;

  private static final int MOST_SLOTS = 8000;
  private static final double SLOWER = 0.985;

  /**
   * Computes the bound.
   *
   * @param slot of time; longer where the workload would have too many of them
   * @param steps of the ascent
   * @param listener is told how many steps are done
   * @throws IllegalArgumentException if an application is missing, or a job can never run
   */
  public static LowerBound of(
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      Duration slot,
      int steps,
      IntConsumer listener) {
    List<String> pools =
        cluster.groups().stream().map(ClusterShape.Group::gpuType).distinct().toList();
    double[] capacity = new double[pools.size()];
    cluster.groups().forEach(group -> capacity[pools.indexOf(group.gpuType())] += group.gpus());
    double seconds = slot.toMillis() / 1000.0;
    Collection<Kind> kinds = kinds(cluster, workload, applications, pools, seconds);
    double horizon = horizon(kinds, workload, capacity);
    if (horizon > seconds * MOST_SLOTS) {
      seconds = Math.ceil(horizon / MOST_SLOTS);
      kinds = kinds(cluster, workload, applications, pools, seconds);
    }
    Ascent ascent =
        new Ascent(List.copyOf(kinds), capacity, (int) Math.ceil(horizon / seconds), seconds);
    double early = 0;
    for (int step = 0; step < steps; step++) {
      ascent.step(Math.pow(SLOWER, step));
      if (step == steps * 3 / 4) {
        early = ascent.best();
      }
      listener.accept(step + 1);
    }
    return new LowerBound(
        ascent.best() / workload.jobs().size(),
        Duration.ofMillis(Math.round(seconds * 1000)),
        ascent.best() > 0 ? 1 - early / ascent.best() : 0);
  }

  private static Collection<Kind> kinds(
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      List<String> pools,
      double slotSeconds) {
    Map<Object, Kind> kinds = new LinkedHashMap<>();
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      JobSpec spec = EventSpecs.of(job, application, Control.SIZE_AND_BATCH, cluster);
      Object alike =
          List.of(
              application.name(),
              spec.elasticity(),
              spec.batchLimits(),
              spec.byGpuType(),
              spec.slotsPerReplica(""));
      kinds
          .computeIfAbsent(
              alike,
              _ ->
                  new Kind(
                      application,
                      new TruePaces(spec, application, cluster).ways(pools),
                      slotSeconds))
          .arrives(job.submitSeconds());
    }
    return new ArrayList<>(kinds.values());
  }

  /** Seconds after which prices are zero, and all work is done as fast as alone. */
  private static double horizon(Collection<Kind> kinds, Workload workload, double[] capacity) {
    double all = 0;
    for (double slots : capacity) {
      all += slots;
    }
    double work = 0;
    double longest = 0;
    for (Kind kind : kinds) {
      work += kind.jobs() * kind.cheapest();
      longest = Math.max(longest, kind.alone());
    }
    double last = workload.jobs().stream().mapToDouble(Workload.Job::submitSeconds).max().orElse(0);
    return last + 2 * (work / all + longest);
  }
}
