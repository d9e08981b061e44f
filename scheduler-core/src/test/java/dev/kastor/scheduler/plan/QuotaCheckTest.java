package dev.kastor.scheduler.plan;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Plans against quotas, with the sums by hand. */
final class QuotaCheckTest {
  private static final List<Node> NODES = List.of(new Node("n0", "a", 20));

  private static Queue queue(String name, String cohort, Quota quota) {
    return new Queue(name, 1, cohort, Optional.of(quota), StopPolicy.NONE);
  }

  private static Map<String, Queue> queues(Queue... queues) {
    SequencedMap<String, Queue> byName = new LinkedHashMap<>();
    for (Queue queue : queues) {
      byName.put(queue.name(), queue);
    }
    return byName;
  }

  private static JobState pinned(String queue, int slots) {
    return job("pinned-" + queue).queue(queue).on("n0", slots).pinned().build();
  }

  private static JobState waiting(String queue) {
    return job("new-" + queue).queue(queue).build();
  }

  /** Violations where pinned jobs keep what they hold and each other job gets so many slots. */
  private static List<PlanViolation> violations(
      Map<String, Queue> queues, int slots, JobState... jobs) {
    SequencedMap<JobId, Plan.Assignment> given = new LinkedHashMap<>();
    for (JobState job : jobs) {
      Allocation gets = slots == 0 ? Allocation.NONE : Allocation.on("n0", slots);
      given.put(
          job.id(),
          new Plan.Assignment(
              job.pinned() ? job.allocation() : gets, Reason.of("Test", "As the test says.")));
    }
    Snapshot snapshot = new Snapshot(Instant.EPOCH, NODES, List.of(jobs), queues);
    return QuotaCheck.violations(snapshot, new Plan(given));
  }

  @Test
  void whatPinnedJobsHoldCountsAgainstTheQuota() {
    Map<String, Queue> four = queues(queue("a", "", new Quota(4)));
    assertThat(violations(four, 2, pinned("a", 2), waiting("a"))).isEmpty();
    assertThat(violations(four, 3, pinned("a", 2), waiting("a")))
        .containsExactly(new PlanViolation.QuotaExceeded("a", 4, 5));
  }

  @Test
  void nobodyJoinsPinnedJobsThatHoldMoreThanTheQuota() {
    Map<String, Queue> four = queues(queue("a", "", new Quota(4)));
    assertThat(violations(four, 0, pinned("a", 6), waiting("a"))).isEmpty();
    assertThat(violations(four, 1, pinned("a", 6), waiting("a")))
        .containsExactly(new PlanViolation.QuotaExceeded("a", 4, 7));
  }

  @Test
  void whatIsBorrowedIsLimited() {
    Map<String, Queue> cohort =
        queues(queue("a", "c", new Quota(4, 2, Quota.UNLIMITED)), queue("b", "c", new Quota(10)));
    assertThat(violations(cohort, 6, waiting("a"))).isEmpty();
    assertThat(violations(cohort, 7, waiting("a")))
        .containsExactly(new PlanViolation.QuotaExceeded("a", 6, 7));
  }

  /** Pinned jobs of a draw 6 of the 8 that both lend, so that b may draw 2 more. */
  @Test
  void whatPinnedJobsDrawCountsAgainstWhatTheCohortLends() {
    Map<String, Queue> cohort =
        queues(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4)));
    assertThat(violations(cohort, 2, pinned("a", 6), waiting("b"))).isEmpty();
    assertThat(violations(cohort, 3, pinned("a", 6), waiting("b")))
        .containsExactly(new PlanViolation.CohortExceeded("c", 8, 9, 8, 9));
  }

  @Test
  void nobodyJoinsPinnedJobsThatDrawMoreThanTheCohortLends() {
    Map<String, Queue> cohort =
        queues(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4)));
    assertThat(violations(cohort, 0, pinned("a", 9), waiting("b"))).isEmpty();
    assertThat(violations(cohort, 1, pinned("a", 9), waiting("b")))
        .containsExactly(new PlanViolation.CohortExceeded("c", 8, 10, 8, 10));
  }

  /** What b keeps for itself it does not draw on the cohort. */
  @Test
  void whatAQueueKeepsIsNoDraw() {
    Map<String, Queue> cohort =
        queues(queue("a", "c", new Quota(4)), queue("b", "c", new Quota(4, Quota.UNLIMITED, 1)));
    assertThat(violations(cohort, 3, pinned("a", 5), waiting("b"))).isEmpty();
    assertThat(violations(cohort, 4, pinned("a", 5), waiting("b")))
        .containsExactly(new PlanViolation.CohortExceeded("c", 5, 6, 8, 9));
  }

  @Test
  void aQueueThatIsHeldStartsNobodyAndADrainedOneRunsNobody() {
    JobState runs = job("runs").queue("a").on("n0", 1).build();
    Queue held = new Queue("a", 1, "", Optional.empty(), StopPolicy.HOLD);
    Queue drained = new Queue("a", 1, "", Optional.empty(), StopPolicy.HOLD_AND_DRAIN);
    assertThat(violations(queues(held), 1, runs)).isEmpty();
    assertThat(violations(queues(held), 0, waiting("a"))).isEmpty();
    assertThat(violations(queues(held), 1, waiting("a")))
        .containsExactly(
            new PlanViolation.QueueStopped(new JobId("test", "new-a"), "a", StopPolicy.HOLD));
    assertThat(violations(queues(drained), 1, pinned("a", 1))).isEmpty();
    assertThat(violations(queues(drained), 1, runs))
        .containsExactly(new PlanViolation.QueueStopped(runs.id(), "a", StopPolicy.HOLD_AND_DRAIN));
  }
}
