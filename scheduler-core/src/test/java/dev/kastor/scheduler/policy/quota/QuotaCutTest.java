package dev.kastor.scheduler.policy.quota;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Quotas;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** What is taken from jobs of one queue that hold more than its quota. */
final class QuotaCutTest {
  private final SequencedMap<JobId, Allocation> given = new LinkedHashMap<>();
  private final Map<JobId, Reason> reasons = new HashMap<>();

  private static TestJob gang(String name, int replicas) {
    return job(name).elasticity(new Elasticity.Rigid(replicas)).queue("a");
  }

  private static Allocation on(String node, int slots) {
    return Allocation.on(node, slots);
  }

  private static Allocation on(String one, int first, String two, int second) {
    SequencedMap<String, Integer> nodes = new LinkedHashMap<>();
    nodes.put(one, first);
    nodes.put(two, second);
    return new Allocation(nodes);
  }

  /** Cuts jobs, each of which was to keep what it holds unless {@link #given} says otherwise. */
  private void cut(Control control, int quota, JobState... jobs) {
    Queue queue = new Queue("a", 1, "", Optional.of(new Quota(quota)), StopPolicy.NONE);
    Quotas quotas = Quotas.of(Map.of("a", queue));
    for (JobState job : jobs) {
      given.putIfAbsent(job.id(), job.allocation());
      quotas.take(job, given(job).slots());
    }
    new QuotaCut(quotas, control, List.of(jobs), given, reasons).cut();
    int left = given.values().stream().mapToInt(Allocation::slots).sum();
    assertThat(left).as("slots of a quota of %d", quota).isLessThanOrEqualTo(quota);
  }

  private Allocation given(JobState job) {
    return Objects.requireNonNull(given.get(job.id()));
  }

  private String why(JobState job) {
    Reason reason = reasons.get(job.id());
    return reason == null ? "" : reason.code();
  }

  /** Both pause for a second; what was trained since the last checkpoint tells them apart. */
  @Test
  void whatIsNotSavedIsLostByAStop() {
    for (long firstUnsaved : new long[] {1, 600}) {
      given.clear();
      JobState first = gang("x", 2).on("n0", 2).unsaved(Duration.ofSeconds(firstUnsaved)).build();
      JobState second = gang("y", 2).on("n1", 2).unsaved(Duration.ofSeconds(60)).build();
      cut(Control.SIZE_AND_BATCH, 2, first, second);
      assertThat(given(first).isEmpty()).isEqualTo(firstUnsaved < 60);
      assertThat(given(second).isEmpty()).isEqualTo(firstUnsaved > 60);
    }
  }

  /** 2 GPUs for 70 s are less than 4 for 40 s, and 1 GPU for 100 s is less than both. */
  @Test
  void aStopCostsThePauseOfTheNextStartOnAllItsGpus() {
    JobState two = gang("two", 2).on("n0", 2).restartCost(Duration.ofSeconds(70)).build();
    JobState four = gang("four", 4).on("n1", 4).restartCost(Duration.ofSeconds(40)).build();
    JobState one = gang("one", 1).on("n2", 1).restartCost(Duration.ofSeconds(100)).build();
    cut(Control.SIZE_AND_BATCH, 4, two, four, one);
    assertThat(given(one)).isEqualTo(Allocation.NONE);
    assertThat(given(two)).isEqualTo(Allocation.NONE);
    assertThat(given(four)).isEqualTo(four.allocation());
    assertThat(why(one)).isEqualTo("Reclaimed");
    assertThat(why(four)).isEmpty();
  }

  @Test
  void nobodyIsStoppedWhereSomebodyCanShrink() {
    JobState elastic =
        job("elastic")
            .replicas(1, 8)
            .queue("a")
            .on("n0", 4)
            .rescaleCost(Duration.ofHours(1))
            .build();
    JobState rigid = gang("rigid", 2).on("n1", 2).restartCost(Duration.ZERO).build();
    cut(Control.SIZE, 3, elastic, rigid);
    assertThat(given(elastic)).isEqualTo(on("n0", 1));
    assertThat(given(rigid)).isEqualTo(rigid.allocation());
    assertThat(why(elastic)).isEqualTo("Reclaimed");
  }

  /** 2 GPUs for 3 s are less than 4 for 2 s, though the pause is longer. */
  @Test
  void whoPausesForLeastShrinksFirst() {
    JobState cheap =
        job("cheap")
            .replicas(1, 8)
            .queue("a")
            .on("n0", 2)
            .rescaleCost(Duration.ofSeconds(3))
            .build();
    JobState dear =
        job("dear")
            .replicas(1, 8)
            .queue("a")
            .on("n1", 4)
            .rescaleCost(Duration.ofSeconds(2))
            .build();
    cut(Control.SIZE, 5, cheap, dear);
    assertThat(given(cheap)).isEqualTo(on("n0", 1));
    assertThat(given(dear)).isEqualTo(dear.allocation());
  }

  /** One that starts smaller may start; one that would be too large even so starts not at all. */
  @Test
  void aStartIsMadeSmallerBeforeItIsDropped() {
    JobState runs = job("runs").replicas(1, 8).queue("a").on("n0", 4).build();
    JobState starts = job("starts").replicas(2, 8).queue("a").build();
    given.put(starts.id(), on("n1", 4));
    cut(Control.SIZE, 7, runs, starts);
    assertThat(given(starts)).isEqualTo(on("n1", 3));
    given.put(starts.id(), on("n1", 4));
    cut(Control.SIZE, 5, runs, starts);
    assertThat(given(starts)).isEqualTo(Allocation.NONE);
    assertThat(given(runs)).as("nobody gives way to a start").isEqualTo(runs.allocation());
    given.put(starts.id(), on("n1", 4));
    cut(Control.PLACEMENT, 7, runs, starts);
    assertThat(given(starts)).isEqualTo(Allocation.NONE);
  }

  @Test
  void whereSizesAreNotForThePolicyToChooseJobsStop() {
    JobState job = job("a").replicas(1, 8).queue("a").on("n0", 4).build();
    cut(Control.PLACEMENT, 3, job);
    assertThat(given(job)).isEqualTo(Allocation.NONE);
  }

  @Test
  void growthIsCutBeforeStartsAndStartsBeforeThoseWhoRun() {
    JobState grows = job("grows").replicas(1, 8).queue("a").on("n0", 2).build();
    JobState first = job("first").replicas(2, 8).queue("a").build();
    JobState last = job("last").replicas(2, 8).queue("a").build();
    given.put(grows.id(), on("n0", 4));
    given.put(first.id(), on("n1", 2));
    given.put(last.id(), on("n2", 2));
    cut(Control.SIZE, 6, grows, first, last);
    assertThat(given(grows)).isEqualTo(on("n0", 2));
    assertThat(why(grows)).isEqualTo("AtQuota");
    assertThat(given(first)).isEqualTo(on("n1", 2));
    assertThat(given(last)).isEqualTo(on("n2", 2));
    cut(Control.SIZE, 5, grows, first, last);
    assertThat(given(grows)).isEqualTo(on("n0", 2));
    assertThat(given(first)).isEqualTo(on("n1", 2));
    assertThat(given(last)).isEqualTo(Allocation.NONE);
    assertThat(why(last)).isEqualTo("WaitingForQuota");
    assertThat(Objects.requireNonNull(reasons.get(last.id())).message())
        .isEqualTo("It needs 2 GPUs, and queue a holds 4 of its 5 GPUs.");
  }

  /** Few nodes are fast nodes: replicas leave the node that holds fewest of the job's. */
  @Test
  void theNodeWithFewestReplicasIsGivenUpFirst() {
    JobState low = job("low").replicas(1, 8).queue("a").on(on("n0", 1, "n1", 3)).build();
    cut(Control.SIZE, 3, low);
    assertThat(given(low)).isEqualTo(on("n1", 3));
    given.clear();
    JobState high = job("high").replicas(1, 8).queue("a").on(on("n0", 3, "n1", 1)).build();
    cut(Control.SIZE, 2, high);
    assertThat(given(high)).isEqualTo(on("n0", 2));
    given.clear();
    JobState even = job("even").replicas(1, 8).queue("a").on(on("n0", 2, "n1", 2)).build();
    cut(Control.SIZE, 3, even);
    assertThat(given(even)).as("of equals the last").isEqualTo(on("n0", 2, "n1", 1));
  }

  @Test
  void sizesThatAJobDoesNotAllowAreSkipped() {
    JobState pairs = job("pairs").slotsPerReplica(2).replicas(1, 4).queue("a").on("n0", 4).build();
    cut(Control.SIZE, 5, pairs);
    assertThat(given(pairs)).isEqualTo(Allocation.on("n0", 2, 2));
  }

  @Test
  void pinnedJobsStay() {
    JobState pinned = gang("pinned", 4).on("n0", 4).pinned().build();
    JobState other = gang("other", 1).on("n1", 1).restartCost(Duration.ofDays(1)).build();
    cut(Control.SIZE, 4, pinned, other);
    assertThat(given(pinned)).isEqualTo(pinned.allocation());
    assertThat(given(other)).isEqualTo(Allocation.NONE);
  }
}
