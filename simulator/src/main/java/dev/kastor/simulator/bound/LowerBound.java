package dev.kastor.simulator.bound;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.event.EventSpecs;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.profile.Applications;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
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
 * @param reachedSeconds mean completion time of a schedule with the same knowledge and freedom that
 *     changes between time slots only, so that the best one lies between the two; empty where it
 *     would take too much memory, or jobs are taken to have less work than they have
 * @param slot length of a time slot: within it a job changes nothing, and it may begin with the one
 *     in which it arrives
 * @param stillRising share of the bound by which the last quarter of the ascent raised it
 */
public record LowerBound(
    double meanSeconds, OptionalDouble reachedSeconds, Duration slot, double stillRising) {
  /** Steps of the ascent that bring the bound near its best. */
  public static final int ENOUGH_STEPS = 160;

  private static final String MEAN = "avgJctSeconds";
  private static final String REACHED = "reachedSeconds";
  private static final String SLOT = "slotSeconds";
  private static final String RISING = "stillRising";
  private static final int MOST_SLOTS = 8000;
  private static final double SLOWER = 0.985;
  private static final int MOST_KINDS = 40;

  /** Ratio of the most work to the least of kinds that are taken together: first, and at most. */
  private static final double FIRST_SPAN = 1.02;

  private static final double MOST_SPAN = 1e9;

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
    Pools pools = Pools.of(cluster);
    double seconds = slot.toMillis() / 1000.0;
    List<Kind> all = kinds(cluster, workload, applications, pools, seconds);
    double horizon = horizon(all, workload, pools);
    if (horizon > seconds * MOST_SLOTS) {
      seconds = Math.ceil(horizon / MOST_SLOTS);
      all = kinds(cluster, workload, applications, pools, seconds);
    }
    List<Kind> kinds = few(all);
    boolean exact = kinds.size() == all.size();
    Ascent ascent = new Ascent(kinds, pools, (int) Math.ceil(horizon / seconds), seconds);
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
        exact
            ? PricedSchedule.meanSeconds(kinds, pools, ascent.prices(), seconds)
            : OptionalDouble.empty(),
        Duration.ofMillis(Math.round(seconds * 1000)),
        ascent.best() > 0 ? 1 - early / ascent.best() : 0);
  }

  /** How far a schedule could go, in sentences. */
  public String text() {
    return String.format(
        Locale.ROOT,
        "No schedule has a mean JCT below %,.0f s%s (slots of %s s; the last quarter of the ascent"
            + " raised the bound by %.1f %%).",
        meanSeconds,
        reachedSeconds.isPresent()
            ? String.format(
                Locale.ROOT,
                "; one that knows all jobs, packs perfectly and pays no pause has %,.0f s, so the"
                    + " best is at most %.1f %% above",
                reachedSeconds.getAsDouble(),
                100 * (reachedSeconds.getAsDouble() / meanSeconds - 1))
            : "",
        BigDecimal.valueOf(slot.toMillis(), 3).stripTrailingZeros().toPlainString(),
        100 * stillRising);
  }

  /** Writes it into an object. */
  public void put(ObjectNode json) {
    json.put(MEAN, meanSeconds);
    reachedSeconds.ifPresent(reached -> json.put(REACHED, reached));
    json.put(SLOT, slot.toMillis() / 1000.0);
    json.put(RISING, stillRising);
  }

  /** Reads what {@link #put} wrote; empty if something is missing. */
  public static Optional<LowerBound> of(JsonNode json) {
    if (!json.path(MEAN).isNumber() || !json.path(SLOT).isNumber() || !json.has(RISING)) {
      return Optional.empty();
    }
    JsonNode reached = json.path(REACHED);
    return Optional.of(
        new LowerBound(
            json.path(MEAN).doubleValue(),
            reached.isNumber() ? OptionalDouble.of(reached.doubleValue()) : OptionalDouble.empty(),
            Duration.ofMillis(Math.round(1000 * json.path(SLOT).doubleValue())),
            json.path(RISING).doubleValue()));
  }

  private static List<Kind> kinds(
      ClusterShape cluster,
      Workload workload,
      Map<String, Application> applications,
      Pools pools,
      double slotSeconds) {
    Map<Object, Kind> kinds = new LinkedHashMap<>();
    for (Workload.Job job : workload.jobs()) {
      Application application = Applications.of(job, applications);
      JobSpec spec = EventSpecs.of(job, application, Control.SIZE_AND_BATCH, cluster);
      List<Object> butForWork =
          List.of(
              application.name(),
              spec.elasticity(),
              spec.batchLimits(),
              spec.byGpuType(),
              spec.slotsPerReplica(""));
      // Jobs of one name have other work each where their durations are published.
      kinds
          .computeIfAbsent(
              List.of(application, butForWork),
              _ -> kind(job, application, spec, butForWork, cluster, pools, slotSeconds))
          .arrives(job.submitSeconds());
    }
    return List.copyOf(kinds.values());
  }

  /**
   * Kinds, no more than can be computed in a minute: of those that differ in their work alone,
   * neighbours are taken to have the work of the one that has least, so that the result stays a
   * lower bound.
   */
  private static List<Kind> few(List<Kind> all) {
    List<Kind> sorted = all.stream().sorted(Comparator.comparingDouble(Kind::alone)).toList();
    List<Kind> few = all;
    for (double span = FIRST_SPAN; few.size() > MOST_KINDS && span < MOST_SPAN; span *= span) {
      Map<Object, List<Kind>> merged = new LinkedHashMap<>();
      for (Kind kind : sorted) {
        List<Kind> alike = merged.computeIfAbsent(kind.butForWork(), _ -> new ArrayList<>());
        if (alike.isEmpty() || kind.alone() > span * alike.getLast().alone()) {
          alike.add(kind.with(List.of()));
        }
        kind.arrivals().forEach(alike.getLast()::arrives);
      }
      few = merged.values().stream().flatMap(List::stream).toList();
    }
    return few;
  }

  private static Kind kind(
      Workload.Job job,
      Application application,
      JobSpec spec,
      Object butForWork,
      ClusterShape cluster,
      Pools pools,
      double slotSeconds) {
    List<Way> ways = new TruePaces(spec, application, cluster).ways(pools);
    if (ways.isEmpty()) {
      throw new IllegalArgumentException(
          "job %s has no lower bound: application %s was measured with none of the sizes that the job may have on %s"
              .formatted(job.name(), application.name(), cluster));
    }
    return new Kind(application, butForWork, pools, ways, slotSeconds);
  }

  /** Seconds after which prices are zero, and all work is done as fast as alone. */
  private static double horizon(List<Kind> kinds, Workload workload, Pools pools) {
    double work = 0;
    double longest = 0;
    double[] bound = new double[pools.count()];
    for (Kind kind : kinds) {
      double slotSeconds = kind.jobs() * kind.cheapest();
      work += slotSeconds;
      longest = Math.max(longest, kind.alone());
      if (kind.onlyPool() != Way.ANY_POOL) {
        bound[kind.onlyPool()] += slotSeconds;
      }
    }
    double busiest = work / pools.all();
    for (int pool = 0; pool < bound.length; pool++) {
      busiest = Math.max(busiest, bound[pool] / pools.capacity()[pool]);
    }
    double last = workload.jobs().stream().mapToDouble(Workload.Job::submitSeconds).max().orElse(0);
    return last + 2 * (busiest + longest);
  }
}
