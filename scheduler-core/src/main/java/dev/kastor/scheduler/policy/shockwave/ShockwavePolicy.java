package dev.kastor.scheduler.policy.shockwave;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.scheduler.policy.support.FreeSlots;
import dev.kastor.scheduler.policy.support.GangFill;
import dev.kastor.scheduler.policy.support.RemainingTime;
import dev.kastor.scheduler.policy.support.Sizes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Shockwave (NSDI 2023, sections 4 and 6): plans the next {@value WelfarePlan#ROUNDS} rounds at
 * once for the largest product of the jobs' progress, which weighs efficiency against fairness,
 * with sizes and batches as their owners asked.
 *
 * <p>Jobs that are late against a fair share of the cluster weigh more, by the power of how late
 * they are; {@link WelfarePlan} has the program. Of the plan only the first round is carried out,
 * and GPUs that it leaves idle go to the jobs with most left. A job that nothing is known of is
 * taken to need one round.
 *
 * <p>Difference from the artifact: there finish-time fairness is a bound first and a weight only
 * where the bound cannot be met, and the rounds of the plan are ordered by a second program. Here
 * it is a weight from the start, as in the paper's objective, and one program orders the rounds
 * too.
 */
public final class ShockwavePolicy implements Policy {
  private static final Duration ROUND = Duration.ofMinutes(6);
  private static final double ROUND_SECONDS = ROUND.toMillis() / 1000.0;

  /** Plug-in of this policy. */
  public static final PolicyPlugin PLUGIN =
      PolicyPlugin.of(
          "shockwave",
          "Plans for several rounds at once that weigh efficiency against fairness, "
              + "with the sizes that owners asked for (NSDI 2023).",
          PolicyTraits.of(Control.PLACEMENT).withPublishedRound(ROUND),
          List.of(),
          (context, options) -> new ShockwavePolicy());

  /** Powers of lateness that the artifact weighs with; the second if the job can end at once. */
  private static final double LATE = 12;

  private static final double LATE_AND_LAST = 100;
  private static final double HEAVIEST = 1e4;

  private static final Reason KEPT = Reason.of("Kept", "Is in the first round of the plan.");
  private static final Reason STARTED = Reason.of("Started", "Is in the first round of the plan.");
  private static final Reason WAITING =
      Reason.of("Waiting", "Is planned for a later round, or for none yet.");

  private record Solved(Instant at, int slots, Set<JobId> jobs, Set<JobId> first) {}

  private @Nullable Solved solved;
  private final RemainingTime remaining = new RemainingTime();
  private final WelfarePlan program = new WelfarePlan();

  @Override
  public Plan plan(Snapshot snapshot) {
    GangFill fill = new GangFill(snapshot, new FreeSlots(snapshot.nodes()), KEPT, STARTED);
    double[] left = remaining.seconds(snapshot);
    List<JobState> jobs = snapshot.jobs();
    double asked = 0;
    for (JobState job : jobs) {
      asked += Sizes.leastSlots(job.spec());
    }
    double contention = Math.max(1, asked / Math.max(1, snapshot.totalSlots()));
    List<WelfarePlan.Job> candidates = new ArrayList<>();
    for (int j = 0; j < left.length; j++) {
      left[j] = left[j] > 0 ? left[j] : ROUND_SECONDS;
      // A job that can run nowhere now has infinitely much left.
      if (Double.isFinite(left[j]) && !jobs.get(j).pinned()) {
        candidates.add(candidate(j, jobs.get(j), left[j], contention));
      }
    }
    candidates.sort(
        Comparator.comparingDouble(WelfarePlan.Job::weight)
            .reversed()
            .thenComparing(job -> !job.running()));
    Set<JobId> first = first(snapshot, candidates, fill.left());
    List<WelfarePlan.Job> idle = new ArrayList<>();
    for (WelfarePlan.Job candidate : candidates) {
      if (first.contains(jobs.get(candidate.index()).id())) {
        fill.offer(candidate.index());
      } else {
        idle.add(candidate);
      }
    }
    idle.sort(Comparator.comparingDouble(WelfarePlan.Job::secondsLeft).reversed());
    idle.forEach(job -> fill.offer(job.index()));
    return fill.elseWaiting(WAITING);
  }

  /** Who runs in the first round of the plan; solved again once a round or for other jobs. */
  private Set<JobId> first(Snapshot snapshot, List<WelfarePlan.Job> candidates, int slots) {
    Set<JobId> ids = new HashSet<>();
    candidates.forEach(job -> ids.add(snapshot.jobs().get(job.index()).id()));
    Solved known = solved;
    if (known != null
        && known.slots == slots
        && known.jobs.equals(ids)
        && snapshot.now().isBefore(known.at.plus(ROUND))) {
      return known.first;
    }
    boolean[] chosen = program.first(candidates, slots, ROUND_SECONDS);
    Set<JobId> first = new HashSet<>();
    for (int c = 0; c < chosen.length; c++) {
      if (chosen[c]) {
        first.add(snapshot.jobs().get(candidates.get(c).index()).id());
      }
    }
    solved = new Solved(snapshot.now(), slots, ids, first);
    return first;
  }

  private static WelfarePlan.Job candidate(
      int index, JobState job, double left, double contention) {
    int slots = Sizes.leastSlots(job.spec());
    double done = job.attainedService() / slots;
    // Finish-time fairness (Themis, NSDI 2020, section 3): against an equal share throughout.
    double fairness =
        (job.age().toMillis() / 1000.0 + left * contention) / ((done + left) * contention);
    double power = left <= ROUND_SECONDS ? LATE_AND_LAST : LATE;
    double weight = Math.min(HEAVIEST, Math.pow(Math.max(1, fairness), power));
    return new WelfarePlan.Job(index, slots, done, left, weight, !job.allocation().isEmpty());
  }
}
