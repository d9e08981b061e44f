package dev.kastor.scheduler;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The slots that the newest round over all jobs left free, and decisions on jobs that come after it
 * and before the next.
 *
 * <p>Where a plan is {@linkplain Plan#ample ample} those who come take nothing from anybody, so
 * that they get what a round over all would give them; and looking at them alone takes the same
 * time in a cluster of ten thousand jobs as in an empty one. To the policy all that is taken looks
 * like one job that must stay as it is.
 *
 * <p>A round over all goes on meanwhile: its changes come through {@link #fitting}, which lets none
 * take slots that somebody was given since it looked. Thread-safe.
 */
public final class Vacancies {
  private static final JobId TAKEN = new JobId("", "taken");

  /**
   * What a newcomer was given.
   *
   * @param shown from when on the cluster shows it to those who look
   */
  private record Served(Allocation allocation, Instant shown) {}

  private final Policy policy;
  private final Map<JobId, Served> served = new HashMap<>();
  private Snapshot seen = new Snapshot(Instant.MIN, List.of(), List.of());
  private Map<String, Integer> taken = Map.of();
  private Set<JobId> changed = Set.of();
  private boolean ample;

  /**
   * Nothing is free before the first round.
   *
   * @param policy decides on newcomers; used by nobody else, as it may remember what it saw
   */
  public Vacancies(Policy policy) {
    this.policy = policy;
  }

  /**
   * Decides on jobs that came since the last round over all, if a round over all would give them
   * the same. Rounds over all leave them what they got; call {@link #shown} once they see it.
   *
   * @param newcomers jobs that hold nothing
   * @param usable whether a node that the last round saw may still be used
   * @return a round over these jobs alone, in which each gets slots; empty if all jobs have to be
   *     looked at
   */
  public synchronized Optional<Round> serve(
      Instant now, List<JobState> newcomers, Predicate<String> usable) {
    boolean known = newcomers.stream().anyMatch(job -> changed.contains(job.id()));
    if (!ample || known || newcomers.isEmpty()) {
      return Optional.empty();
    }
    List<JobState> jobs = new ArrayList<>(newcomers);
    taken().ifPresent(jobs::addFirst);
    Snapshot snapshot = new Snapshot(now, seen.nodes(), jobs, seen.queues());
    Plan plan = policy.plan(snapshot);
    if (!plan.ample() || !PlanCheck.violations(snapshot, plan).isEmpty()) {
      return Optional.empty();
    }
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (JobState job : newcomers) {
      Allocation given = plan.allocation(job.id());
      if (given.isEmpty() || !given.replicasByNode().keySet().stream().allMatch(usable)) {
        return Optional.empty();
      }
      assignments.put(job.id(), new Plan.Assignment(given, plan.reason(job.id())));
    }
    assignments.forEach((job, assignment) -> {
      // A round that looks before the decision is begun on must not take it for one that failed.
      served.put(job, new Served(assignment.allocation(), Instant.MAX));
      add(taken, assignment.allocation());
    });
    Snapshot alone = new Snapshot(now, seen.nodes(), newcomers, seen.queues());
    Plan theirs = new Plan(assignments, true);
    return Optional.of(new Round(alone, theirs, List.of(), PlanDiff.changes(alone, theirs)));
  }

  /**
   * Newcomers that were served are shown by the cluster with what they got, or it failed: whoever
   * looks after this moment knows.
   */
  public synchronized void shown(Round round, Instant now) {
    round
        .changes()
        .forEach(change ->
            served.computeIfPresent(
                change.job(), (job, given) -> new Served(given.allocation(), now)));
  }

  /**
   * Those of a round's changes that have room beside the newcomers who were served since the round
   * looked at the cluster, and what is taken once they are carried out. The rest is for the next
   * round.
   *
   * @param observed what the round looked at
   */
  public synchronized List<Change> fitting(Snapshot observed, List<Change> changes) {
    forget(observed);
    SequencedMap<JobId, Change> open = new LinkedHashMap<>();
    changes.stream()
        // Who was served needs no other start.
        .filter(change -> !served.containsKey(change.job()))
        .forEach(change -> open.put(change.job(), change));
    Map<String, Integer> slots = HashMap.newHashMap(observed.nodes().size());
    observed.nodes().forEach(node -> slots.put(node.name(), node.slots()));
    Map<String, Integer> use = use(observed, open);
    while (!served.isEmpty() && dropped(open, use, slots)) {
      // Who does not leave after all holds slots that others were to have.
      use = use(observed, open);
    }
    taken = use;
    // Whoever looked at them a moment ago may not know yet what this round gave them.
    changed = Set.copyOf(open.keySet());
    return List.copyOf(open.values());
  }

  /** A round over all ended; its changes went through {@link #fitting}, if there were any. */
  public synchronized void decided(Round round) {
    if (round.violations().isEmpty()) {
      if (round.changes().isEmpty()) {
        var _ = fitting(round.snapshot(), List.of());
      }
      seen = round.snapshot();
      ample = round.plan().ample();
    } else {
      ample = false;
    }
  }

  /** Forgets newcomers whom the rounds over all know by now, and those who were gone since. */
  private void forget(Snapshot observed) {
    served.values().removeIf(each -> each.shown().isBefore(observed.now()));
    for (JobState job : observed.jobs()) {
      if (!job.allocation().isEmpty()) {
        served.remove(job.id());
      }
    }
  }

  /** Slots of each node that are taken once these changes are carried out. */
  private Map<String, Integer> use(Snapshot observed, Map<JobId, Change> changes) {
    Map<String, Integer> use = new TreeMap<>();
    for (JobState job : observed.jobs()) {
      Change change = changes.get(job.id());
      add(use, change == null ? job.allocation() : change.to());
    }
    served.values().forEach(each -> add(use, each.allocation()));
    return use;
  }

  /** Drops the changes that add slots to a node that has not so many; false if there are none. */
  private static boolean dropped(
      Map<JobId, Change> changes, Map<String, Integer> use, Map<String, Integer> slots) {
    return changes
        .values()
        .removeIf(change -> {
          Map<String, Integer> before = change.from().replicasByNode();
          return change.to().replicasByNode().entrySet().stream()
              .filter(to -> to.getValue() > before.getOrDefault(to.getKey(), 0))
              .anyMatch(
                  to -> use.getOrDefault(to.getKey(), 0) > slots.getOrDefault(to.getKey(), 0));
        });
  }

  private static void add(Map<String, Integer> use, Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      use.merge(allocation.node(i), allocation.count(i), Integer::sum);
    }
  }

  /** All that is taken, as one job that cannot change. */
  private Optional<JobState> taken() {
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    Allocation all = new Allocation(new LinkedHashMap<>(taken));
    int slots = all.replicas();
    JobSpec spec =
        new JobSpec(
            TAKEN,
            Instant.EPOCH,
            new Elasticity.Rigid(slots),
            new BatchLimits(slots, slots, 1, 1, false),
            "");
    return Optional.of(
        new JobState(
            spec,
            all,
            Optional.empty(),
            0,
            Optional.empty(),
            Duration.ZERO,
            0,
            0,
            Duration.ZERO,
            true));
  }
}
