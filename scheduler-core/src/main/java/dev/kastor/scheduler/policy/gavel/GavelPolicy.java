package dev.kastor.scheduler.policy.gavel;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.solve.SumOfRates;
import dev.kastor.scheduler.policy.support.GivenBatch;
import dev.kastor.scheduler.policy.support.GpuTypes;
import dev.kastor.scheduler.policy.support.ReceivedRounds;
import dev.kastor.scheduler.policy.support.Seats;
import dev.kastor.scheduler.policy.support.Sizes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Gavel (OSDI 2020, sections 4.1 and 5) for the largest sum of step rates, as Sia's artifact (SOSP
 * 2023, section 4.2) runs it: {@link SumOfRates} says which share of its time each job should spend
 * on each GPU type, and rounds approach those shares.
 *
 * <p>In a round, (job, type) pairs go by share over time received so far; whoever fits runs, and
 * what is left goes to anyone, so that no GPU idles that a waiting job could use. Sizes and batches
 * are what their owners asked for. Jobs keep their GPUs where they can; a job that sits out a round
 * is stopped.
 */
public final class GavelPolicy implements Policy {
  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "gavel",
          "The largest sum of relative rates over GPU types, approached by rounds, "
              + "with the sizes that owners asked for (OSDI 2020).",
          PolicyTraits.of(Control.PLACEMENT)
              .withGpuTypes()
              .withPublishedRound(Duration.ofMinutes(6)),
          List.of(),
          (context, options) -> new GavelPolicy());

  private static final double ROUNDING = 1e5;

  private record Kind(String type, List<Node> nodes, Seats seats) {}

  private record Pair(
      JobState job, Kind kind, int replicas, int slotsPerReplica, double share, double priority) {
    int gpus() {
      return replicas * slotsPerReplica;
    }
  }

  private record Seated(String type, List<Integer> seats, Allocation allocation) {}

  private final ReceivedRounds received = new ReceivedRounds();
  private Map<JobId, Seated> seated = new HashMap<>();
  private List<Node> nodes = List.of();

  @Override
  public Plan plan(Snapshot snapshot) {
    if (!nodes.equals(snapshot.nodes())) {
      nodes = snapshot.nodes();
      seated = new HashMap<>();
    }
    List<Kind> kinds = new ArrayList<>();
    GpuTypes.nodes(snapshot).forEach((type, own) -> kinds.add(new Kind(type, own, new Seats(own))));
    Map<JobId, Plan.Assignment> made = new HashMap<>();
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        kinds.forEach(kind -> kind.seats().take(kind.seats().lastOf(job.allocation())));
        made.put(job.id(), assignment(job.allocation(), "Pinned", "Must keep its allocation."));
      } else {
        jobs.add(job);
      }
    }
    List<Pair> chosen = choose(pairs(jobs, kinds));
    seated = seat(chosen);
    for (Pair pair : chosen) {
      Seated own = seated.get(pair.job().id());
      if (own != null) {
        made.put(pair.job().id(), started(pair, own.allocation()));
        received.add(pair.job().id(), pair.kind().type());
      }
    }
    received.retain(snapshot.jobs().stream().map(JobState::id).collect(Collectors.toSet()));
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : snapshot.jobs()) {
      Plan.Assignment waits =
          assignment(Allocation.NONE, "Waiting", "Others are owed this round's GPUs.");
      assignments.put(job.id(), made.getOrDefault(job.id(), waits));
    }
    return new Plan(assignments);
  }

  private static Plan.Assignment assignment(Allocation allocation, String code, String message) {
    return new Plan.Assignment(allocation, Reason.of(code, message));
  }

  private static Plan.Assignment started(Pair pair, Allocation allocation) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("share", pair.share());
    boolean kept = pair.job().allocation().equals(allocation);
    return new Plan.Assignment(
        allocation,
        new Reason(
            kept ? "Kept" : "Started",
            "Is owed time on GPUs of type '%s'.".formatted(pair.kind().type()),
            numbers));
  }

  /** All pairs of a job and a type that has GPUs for it, the most urgent first. */
  private List<Pair> pairs(List<JobState> jobs, List<Kind> kinds) {
    List<Kind> open = kinds.stream().filter(kind -> kind.seats().free() > 0).toList();
    int[] capacity = open.stream().mapToInt(kind -> kind.seats().free()).toArray();
    double[][] rates = new double[jobs.size()][open.size()];
    int[][] gpus = new int[jobs.size()][open.size()];
    for (int j = 0; j < gpus.length; j++) {
      JobState job = jobs.get(j);
      for (int t = 0; t < capacity.length; t++) {
        Kind kind = open.get(t);
        gpus[j][t] = Sizes.requested(job.spec()) * job.spec().slotsPerReplica(kind.type());
        rates[j][t] = GivenBatch.stepsPerSecond(job, kind.type(), kind.nodes());
      }
      received.enter(job.id(), kinds.stream().map(Kind::type).toList());
    }
    double[][] shares = SumOfRates.shares(rates, gpus, capacity);
    List<Pair> pairs = new ArrayList<>();
    for (int t = 0; t < capacity.length; t++) {
      Kind kind = open.get(t);
      for (int j = 0; j < gpus.length; j++) {
        JobState job = jobs.get(j);
        if (job.spec().runsOn(kind.type())) {
          double share = Math.rint(shares[j][t] * ROUNDING) / ROUNDING;
          double priority = share / received.of(job.id(), kind.type());
          int replicas = Sizes.requested(job.spec());
          int each = job.spec().slotsPerReplica(kind.type());
          if (replicas <= kind.seats().replicas(each)) {
            pairs.add(new Pair(job, kind, replicas, each, share, priority));
          }
        }
      }
    }
    pairs.sort(
        Comparator.comparingDouble(Pair::priority).thenComparingDouble(Pair::share).reversed());
    return pairs;
  }

  /** Fills the cluster in the given order, each job once. */
  private static List<Pair> choose(List<Pair> pairs) {
    Map<String, Integer> taken = new HashMap<>();
    SequencedMap<JobId, Pair> chosen = new LinkedHashMap<>();
    for (Pair pair : pairs) {
      int wanted = taken.getOrDefault(pair.kind().type(), 0) + pair.gpus();
      if (wanted <= pair.kind().seats().free()
          && chosen.putIfAbsent(pair.job().id(), pair) == null) {
        taken.put(pair.kind().type(), wanted);
      }
    }
    return List.copyOf(chosen.values());
  }

  /**
   * Larger replicas first, of these larger jobs first; of one size, those first that can stay where
   * they were.
   */
  private Map<JobId, Seated> seat(List<Pair> chosen) {
    Map<JobId, Seated> made = new HashMap<>();
    SequencedMap<Integer, SequencedMap<Integer, List<Pair>>> bySize =
        new TreeMap<>(Comparator.reverseOrder());
    for (Pair pair : chosen) {
      bySize
          .computeIfAbsent(pair.slotsPerReplica(), each -> new TreeMap<>(Comparator.reverseOrder()))
          .computeIfAbsent(pair.gpus(), gpus -> new ArrayList<>())
          .add(pair);
    }
    List<List<Pair>> groups =
        bySize.values().stream().flatMap(sizes -> sizes.values().stream()).toList();
    for (List<Pair> same : groups) {
      for (Pair pair : same) {
        Seated before = before(pair);
        if (before != null && pair.kind().seats().take(before.seats())) {
          made.put(pair.job().id(), before);
        }
      }
      for (Pair pair : same) {
        if (!made.containsKey(pair.job().id())) {
          List<Integer> taken =
              pair.kind().seats().takeNext(pair.replicas(), pair.slotsPerReplica());
          // Where others split the nodes, slots enough need not be enough for whole replicas.
          if (!taken.isEmpty()) {
            made.put(pair.job().id(), seated(pair, taken));
          }
        }
      }
    }
    return made;
  }

  private static Seated seated(Pair pair, List<Integer> seats) {
    return new Seated(
        pair.kind().type(), seats, pair.kind().seats().allocation(seats, pair.slotsPerReplica()));
  }

  /** Where a job sits; guessed from its allocation if this policy did not put it there. */
  private @Nullable Seated before(Pair pair) {
    Allocation allocation = pair.job().allocation();
    Seated known = seated.get(pair.job().id());
    if (known != null) {
      return known.type().equals(pair.kind().type()) && known.allocation().equals(allocation)
          ? known
          : null;
    }
    List<Integer> guessed = pair.kind().seats().lastOf(allocation);
    boolean same =
        guessed.size() == pair.gpus()
            && allocation.replicas() == pair.replicas()
            && allocation.slotsPerReplica() == pair.slotsPerReplica();
    return allocation.isEmpty() || !same ? null : seated(pair, guessed);
  }
}
