package dev.kastor.simulator.whatif;

import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import dev.kastor.simulator.event.EventSettings;
import dev.kastor.simulator.event.EventSimulation;
import dev.kastor.simulator.event.LiveStart;
import dev.kastor.simulator.live.Assumed;
import dev.kastor.simulator.replay.ReplayListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Future of a live cluster to which nobody else comes: when each job starts and ends, by a replay
 * under its policy.
 *
 * @param fates by job, in submission order
 * @param assumptions what was assumed of jobs, a sentence part each
 */
public record Future(SequencedMap<JobId, Fate> fates, List<String> assumptions) {
  private static final double PRECISION = 0.02;
  private static final Duration REPORTS = Duration.ofSeconds(2);
  private static final Duration LEAST_HORIZON = Duration.ofDays(1);
  private static final Duration MOST_HORIZON = Duration.ofDays(400);
  private static final int NAMED = 3;

  public Future {
    assumptions = List.copyOf(assumptions);
  }

  /**
   * Replays a cluster.
   *
   * @param policies makes its policy
   * @param unknown how long a job trains with its fewest replicas of which nobody knows it
   * @param overdue whether to give up
   * @throws OverdueException if that said so
   */
  static Future of(
      LiveCluster cluster, PolicyFactory policies, Duration unknown, BooleanSupplier overdue) {
    LiveCluster housed = housed(cluster);
    List<String> types = Supposition.types(housed);
    if (types.isEmpty()) {
      return nowhere(housed);
    }
    List<Assumed> assumed =
        housed.jobs().stream().map(job -> Assumed.of(job, types, unknown)).toList();
    List<LiveStart> starts = assumed.stream().map(Assumed::start).toList();
    Instant opens = opens(housed);
    double seconds =
        Math.max(
            horizonSeconds(housed, assumed),
            Duration.between(housed.now(), opens).toNanos() * 1e-9);
    Starts listener = new Starts(housed.now(), overdue);
    EventSimulation simulation =
        new EventSimulation(
            settings(housed),
            housed.now(),
            housed.nodes(),
            starts,
            policies,
            housed.seed(),
            listener);
    var ends = simulation.runOn(opens.plus(horizon(seconds)));
    SequencedMap<JobId, Fate> fates = new LinkedHashMap<>();
    for (LiveJob job : housed.jobs()) {
      Allocation held = job.state().allocation();
      Starts.First first = listener.first.get(job.id());
      fates.put(
          job.id(),
          new Fate(
              job.id(),
              !held.isEmpty(),
              held.isEmpty() && first != null ? Optional.of(first.at()) : Optional.empty(),
              held.isEmpty() ? (first == null ? 0 : first.replicas()) : held.replicas(),
              job.state().restartCost(),
              ends.getOrDefault(job.id(), Optional.empty())));
    }
    return new Future(
        fates, Stream.concat(stopped(housed), assumptions(assumed, unknown).stream()).toList());
  }

  /** Jobs whose nodes are gone, or too small, hold nothing; they keep what they have trained. */
  private static LiveCluster housed(LiveCluster cluster) {
    Map<String, Integer> free = new HashMap<>();
    cluster.nodes().forEach(node -> free.put(node.name(), node.slots()));
    List<LiveJob> jobs = new ArrayList<>();
    for (LiveJob job : cluster.jobs()) {
      Map<String, Integer> slots = job.state().allocation().slotsByNode();
      boolean fits =
          slots.entrySet().stream()
              .allMatch(entry -> free.getOrDefault(entry.getKey(), 0) >= entry.getValue());
      if (fits) {
        slots.forEach((node, taken) -> free.merge(node, -taken, Integer::sum));
        jobs.add(job);
      } else {
        jobs.add(new LiveJob(job.state().stopped(), false));
      }
    }
    return cluster.withJobs(jobs);
  }

  private static Future nowhere(LiveCluster cluster) {
    SequencedMap<JobId, Fate> fates = new LinkedHashMap<>();
    for (LiveJob job : cluster.jobs()) {
      fates.put(
          job.id(),
          new Fate(
              job.id(), false, Optional.empty(), 0, job.state().restartCost(), Optional.empty()));
    }
    return new Future(fates, List.of());
  }

  /** How long all of it takes at least: the longest job alone, or all on all slots. */
  private static double horizonSeconds(LiveCluster cluster, List<Assumed> jobs) {
    double longest = 0;
    double slotSeconds = 0;
    for (Assumed job : jobs) {
      double seconds = job.secondsAtLeast();
      longest = Math.max(longest, seconds);
      slotSeconds += seconds * job.start().job().state().spec().elasticity().min();
    }
    int slots = cluster.nodes().stream().mapToInt(Node::slots).sum();
    return Math.max(longest, slotSeconds / Math.max(1, slots));
  }

  private static Duration horizon(double seconds) {
    double many = Math.min((double) MOST_HORIZON.toSeconds(), 10 * seconds);
    Duration horizon = Duration.ofSeconds((long) many);
    return horizon.compareTo(LEAST_HORIZON) > 0 ? horizon : LEAST_HORIZON;
  }

  /**
   * Rounds and reports as on the cluster, and ever further apart later: what is told of a time is
   * exact to {@value #PRECISION} of how far away it is, and a long future needs few rounds.
   */
  private static EventSettings settings(LiveCluster cluster) {
    return EventSettings.defaults()
        .withTimingNoise(0)
        .withReports(REPORTS)
        .withDecisions(cluster.delay(), cluster.round())
        .withGrowth(PRECISION)
        .withQueues(cluster.queues());
  }

  /** When the last queue opens by itself: what its jobs do then is told as well. */
  private static Instant opens(LiveCluster cluster) {
    return cluster.queues().values().stream()
        .flatMap(queue -> queue.reopening().stream())
        .map(Queue.Reopening::at)
        .filter(cluster.now()::isBefore)
        .max(Comparator.naturalOrder())
        .orElse(cluster.now());
  }

  /** Queues whose jobs go on later by themselves. */
  private static Stream<String> stopped(LiveCluster cluster) {
    return new TreeMap<>(cluster.queues())
        .values().stream()
            .filter(queue -> queue.reopening().isPresent())
            .map(queue ->
                "queue %s is stopped until %s%s"
                    .formatted(
                        queue.name(),
                        queue.reopening().orElseThrow().at(),
                        queue.stopReason().map(why -> " (%s)".formatted(why.code())).orElse("")));
  }

  private static List<String> assumptions(List<Assumed> jobs, Duration unknown) {
    List<String> texts = new ArrayList<>();
    for (Assumed.Kind kind : Assumed.Kind.values()) {
      List<String> names =
          jobs.stream()
              .filter(job -> job.kinds().contains(kind))
              .map(job -> job.start().job().id().toString())
              .toList();
      if (!names.isEmpty()) {
        texts.add(kind.text(named(names), inWords(unknown)));
      }
    }
    return texts;
  }

  private static String named(List<String> names) {
    return names.size() <= NAMED
        ? String.join(", ", names)
        : Stream.concat(
                names.stream().limit(NAMED), Stream.of("%d more".formatted(names.size() - NAMED)))
            .collect(Collectors.joining(", "));
  }

  private static String inWords(Duration duration) {
    return duration.toString().substring(2).toLowerCase(Locale.ROOT);
  }

  /** Listener that keeps when each job is first given something. */
  private static final class Starts implements ReplayListener {
    /** The first allocation of a job. */
    private record First(Instant at, int replicas) {}

    private final Instant now;
    private final BooleanSupplier overdue;
    private final Map<JobId, First> first = new HashMap<>();

    Starts(Instant now, BooleanSupplier overdue) {
      this.now = now;
      this.overdue = overdue;
    }

    @Override
    public void at(double seconds, int done, int all) {
      if (overdue.getAsBoolean()) {
        throw new OverdueException(
            "the replay was given up with %d of %d jobs ended".formatted(done, all));
      }
    }

    @Override
    public void allocated(JobId job, Allocation allocation, Instant at) {
      if (!allocation.isEmpty()) {
        // The simulation counts seconds in a double, which has 0.24 µs between two values today.
        first.putIfAbsent(job, new First(at.isBefore(now) ? now : at, allocation.replicas()));
      }
    }
  }
}
