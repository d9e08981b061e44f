package dev.kastor.scheduler.loop;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanDiff;
import dev.kastor.scheduler.plan.Policy;
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
import java.util.function.BiPredicate;

/**
 * Scheduler of new jobs between two rounds over all jobs: it decides on them alone, from the slots
 * that the newest round left free.
 *
 * <p>Where a plan is {@linkplain Plan#ample ample}, new jobs take nothing from other jobs, so that
 * they get what a round over all jobs would give them; and to decide on them alone takes the same
 * time in a cluster of ten thousand jobs as in an empty one. The policy is shown all taken slots as
 * one job that must stay as it is.
 *
 * <p>A round over all jobs may be under way meanwhile: the loop drops those of its changes that
 * would take slots given to new jobs since the round observed the cluster. Part of {@link
 * SchedulingLoop}; thread-safe.
 */
public final class FastPath {
  private static final JobId TAKEN = new JobId("", "taken");

  /**
   * Allocation of a new job.
   *
   * @param visible from when on the cluster shows the allocation to its observers
   */
  private record Placed(Allocation allocation, Instant visible) {}

  private final Policy policy;
  private final Map<JobId, Placed> placed = new HashMap<>();
  private Snapshot seen = new Snapshot(Instant.MIN, List.of(), List.of());
  private Map<String, Integer> taken = Map.of();
  private Set<JobId> changed = Set.of();
  private boolean ample;

  /**
   * Nothing is free before the first round.
   *
   * @param policy decides on new jobs; not shared, as a policy may remember snapshots
   */
  FastPath(Policy policy) {
    this.policy = policy;
  }

  /**
   * Decides on jobs that came since the last round over all jobs, if such a round would give them
   * the same. Later rounds leave them what they got; call {@link #confirmVisible} once the cluster
   * shows it.
   *
   * @param newcomers jobs that hold nothing
   * @param usable whether a node that the last round saw may still be used for a job
   * @return a round over these jobs alone, in which each gets slots; empty if a round over all jobs
   *     is needed
   */
  public synchronized Optional<Round> tryPlace(
      Instant now, List<JobState> newcomers, BiPredicate<JobId, String> usable) {
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
      if (given.isEmpty()
          || !given.replicasByNode().keySet().stream()
              .allMatch(node -> usable.test(job.id(), node))) {
        return Optional.empty();
      }
      assignments.put(job.id(), new Plan.Assignment(given, plan.reason(job.id())));
    }
    assignments.forEach((job, assignment) -> {
      // A round that observes the cluster before the decision is begun on must not take it for one
      // that failed.
      placed.put(job, new Placed(assignment.allocation(), Instant.MAX));
      add(taken, assignment.allocation());
    });
    Snapshot alone = new Snapshot(now, seen.nodes(), newcomers, seen.queues());
    Plan theirs = new Plan(assignments, true);
    return Optional.of(new Round(alone, theirs, List.of(), PlanDiff.changes(alone, theirs), 0));
  }

  /**
   * Notes that the cluster shows the changes of {@link #tryPlace}, or that they failed: whoever
   * observes it after {@code now} knows.
   */
  public synchronized void confirmVisible(Round round, Instant now) {
    round
        .changes()
        .forEach(change ->
            placed.computeIfPresent(
                change.job(), (job, given) -> new Placed(given.allocation(), now)));
  }

  /**
   * Those of a round's changes that have room beside the jobs placed since the round observed the
   * cluster. The rest is for the next round.
   *
   * @param observed what the round decided on
   */
  synchronized List<Change> dropConflicting(Snapshot observed, List<Change> changes) {
    forget(observed);
    SequencedMap<JobId, Change> open = new LinkedHashMap<>();
    changes.stream()
        // A job that was placed needs no other start.
        .filter(change -> !placed.containsKey(change.job()))
        .forEach(change -> open.put(change.job(), change));
    Map<String, Integer> slots = HashMap.newHashMap(observed.nodes().size());
    observed.nodes().forEach(node -> slots.put(node.name(), node.slots()));
    Map<String, Integer> use = use(observed, open);
    while (!placed.isEmpty() && dropped(open, use, slots)) {
      // A job that does not leave after all holds slots that others were to have.
      use = use(observed, open);
    }
    taken = use;
    // A caller that read these jobs a moment ago may not know yet what this round gives them.
    changed = Set.copyOf(open.keySet());
    return List.copyOf(open.values());
  }

  /** Notes the end of a round over all jobs; its changes went through {@link #dropConflicting}. */
  synchronized void roundFinished(Round round) {
    if (round.violations().isEmpty()) {
      seen = round.snapshot();
      ample = round.plan().ample();
    } else {
      ample = false;
    }
  }

  /** Forgets placed jobs that the rounds over all jobs know by now, and those that are gone. */
  private void forget(Snapshot observed) {
    placed.values().removeIf(each -> each.visible().isBefore(observed.now()));
    for (JobState job : observed.jobs()) {
      if (!job.allocation().isEmpty()) {
        placed.remove(job.id());
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
    placed.values().forEach(each -> add(use, each.allocation()));
    return use;
  }

  /** Drops the changes that add slots to a node that has not so many; false if there are none. */
  private static boolean dropped(
      Map<JobId, Change> changes, Map<String, Integer> use, Map<String, Integer> slots) {
    return changes
        .values()
        .removeIf(change -> {
          Map<String, Integer> before = change.from().slotsByNode();
          return change.to().slotsByNode().entrySet().stream()
              .filter(to -> to.getValue() > before.getOrDefault(to.getKey(), 0))
              .anyMatch(
                  to -> use.getOrDefault(to.getKey(), 0) > slots.getOrDefault(to.getKey(), 0));
        });
  }

  private static void add(Map<String, Integer> use, Allocation allocation) {
    for (int i = 0; i < allocation.nodes(); i++) {
      use.merge(allocation.node(i), allocation.slots(i), Integer::sum);
    }
  }

  /** All that is taken, as one job that cannot change. */
  private Optional<JobState> taken() {
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    Allocation all = new Allocation(new LinkedHashMap<>(taken));
    int slots = all.slots();
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
