package dev.kastor.scheduler.policy;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.Node;
import dev.kastor.scheduler.Plan;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.Snapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
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
  static final String NAME = "gavel";

  private static final double ROUNDING = 1e5;

  private record Pair(JobState job, String type, int gpus, double share, double priority) {}

  private record Seated(String type, int[] seats, Allocation allocation) {}

  /** Rounds that a job has had on each type; half a round from the start on. */
  private final Map<JobId, Map<String, Double>> rounds = new HashMap<>();

  private final Map<String, Double> allRounds = new HashMap<>();
  private Map<JobId, Seated> seated = new HashMap<>();
  private List<Node> nodes = List.of();

  GavelPolicy(PolicyOptions options) {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Control control() {
    return Control.PLACEMENT;
  }

  @Override
  public boolean seesGpuTypes() {
    return true;
  }

  @Override
  public Duration round() {
    return Duration.ofSeconds(360);
  }

  @Override
  public Plan plan(Snapshot snapshot) {
    if (!nodes.equals(snapshot.nodes())) {
      nodes = snapshot.nodes();
      seated = new HashMap<>();
    }
    SequencedMap<String, List<Node>> byType = GpuTypes.nodes(snapshot);
    Map<String, Seats> seats = new LinkedHashMap<>();
    byType.forEach((type, own) -> seats.put(type, new Seats(own)));
    Map<JobId, Plan.Assignment> made = new HashMap<>();
    List<JobState> jobs = new ArrayList<>();
    for (JobState job : snapshot.jobs()) {
      if (job.pinned()) {
        seats.values().forEach(own -> own.take(own.lastOf(job.allocation())));
        made.put(job.id(), assignment(job.allocation(), "Pinned", "Must keep its allocation."));
      } else {
        jobs.add(job);
      }
    }
    List<Pair> chosen = choose(pairs(jobs, byType, seats), seats);
    seated = seat(chosen, seats);
    for (Pair pair : chosen) {
      Seated own = seated.get(pair.job().id());
      if (own != null) {
        made.put(pair.job().id(), started(pair, own.allocation()));
        add(pair.job().id(), pair.type(), 1);
      }
    }
    rounds.keySet().retainAll(new LinkedHashSet<>(snapshot.jobs().stream().map(JobState::id).toList()));
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
            "Is owed time on GPUs of type '%s'.".formatted(pair.type()),
            numbers));
  }

  private void add(JobId job, String type, double count) {
    rounds.computeIfAbsent(job, id -> new HashMap<>()).merge(type, count, Double::sum);
    allRounds.merge(type, count, Double::sum);
  }

  /** All pairs of a job and a type that has GPUs for it, the most urgent first. */
  private List<Pair> pairs(
      List<JobState> jobs, SequencedMap<String, List<Node>> byType, Map<String, Seats> seats) {
    List<String> types =
        byType.keySet().stream().filter(type -> seats.get(type).free() > 0).toList();
    double[][] rates = new double[jobs.size()][types.size()];
    int[] gpus = new int[jobs.size()];
    for (int j = 0; j < gpus.length; j++) {
      JobState job = jobs.get(j);
      gpus[j] = Sizes.requested(job.spec());
      for (int t = 0; t < types.size(); t++) {
        rates[j][t] = GivenBatch.stepsPerSecond(job, types.get(t), byType.get(types.get(t)));
      }
      if (!rounds.containsKey(job.id())) {
        byType.keySet().forEach(type -> add(job.id(), type, 0.5));
      }
    }
    int[] capacity = types.stream().mapToInt(type -> seats.get(type).free()).toArray();
    double[][] shares =
        types.isEmpty() ? new double[jobs.size()][0] : SumOfRates.shares(rates, gpus, capacity);
    List<Pair> pairs = new ArrayList<>();
    for (int t = 0; t < types.size(); t++) {
      String type = types.get(t);
      for (int j = 0; j < gpus.length; j++) {
        JobState job = jobs.get(j);
        if (job.spec().runsOn(type)) {
          double share = Math.rint(shares[j][t] * ROUNDING) / ROUNDING;
          double received = rounds.get(job.id()).get(type) / allRounds.get(type);
          pairs.add(new Pair(job, type, gpus[j], share, share / received));
        }
      }
    }
    pairs.sort(
        Comparator.comparingDouble(Pair::priority)
            .thenComparingDouble(Pair::share)
            .reversed());
    return pairs;
  }

  /** Fills the cluster in the given order, each job once. */
  private static List<Pair> choose(List<Pair> pairs, Map<String, Seats> seats) {
    Map<String, Integer> free = new HashMap<>();
    seats.forEach((type, own) -> free.put(type, own.free()));
    SequencedMap<JobId, Pair> chosen = new LinkedHashMap<>();
    for (Pair pair : pairs) {
      int left = free.getOrDefault(pair.type(), 0);
      if (pair.gpus() <= left && chosen.putIfAbsent(pair.job().id(), pair) == null) {
        free.put(pair.type(), left - pair.gpus());
      }
    }
    return List.copyOf(chosen.values());
  }

  /** Larger jobs first; of one size, those first that can stay where they were. */
  private Map<JobId, Seated> seat(List<Pair> chosen, Map<String, Seats> seats) {
    Map<JobId, Seated> made = new HashMap<>();
    int[] sizes =
        chosen.stream().mapToInt(Pair::gpus).distinct().sorted().toArray();
    for (int s = sizes.length - 1; s >= 0; s--) {
      int size = sizes[s];
      List<Pair> same = chosen.stream().filter(pair -> pair.gpus() == size).toList();
      for (Pair pair : same) {
        Seated before = before(pair, seats.get(pair.type()));
        if (before != null && seats.get(pair.type()).take(before.seats())) {
          made.put(pair.job().id(), before);
        }
      }
      for (Pair pair : same) {
        if (!made.containsKey(pair.job().id())) {
          Seats own = seats.get(pair.type());
          int[] taken = own.takeNext(size);
          made.put(pair.job().id(), new Seated(pair.type(), taken, own.allocation(taken)));
        }
      }
    }
    return made;
  }

  /** Where a job sits; guessed from its allocation if this policy did not put it there. */
  private @Nullable Seated before(Pair pair, Seats seats) {
    Allocation allocation = pair.job().allocation();
    Seated known = seated.get(pair.job().id());
    if (known != null) {
      return known.type().equals(pair.type()) && known.allocation().equals(allocation)
          ? known
          : null;
    }
    int[] guessed = seats.lastOf(allocation);
    return allocation.isEmpty() || guessed.length != pair.gpus()
        ? null
        : new Seated(pair.type(), guessed, seats.allocation(guessed));
  }
}
