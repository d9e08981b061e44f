package dev.kastor.scheduler.policy;

import static dev.kastor.scheduler.model.ReasonNumber.LEAST_SLOTS;
import static dev.kastor.scheduler.model.ReasonNumber.REMAINING_SECONDS;
import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.ReasonNumber;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Forecast;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.policy.registry.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Plans for jobs whose replicas take several slots, worked out by hand. */
final class SeveralSlotsTest {
  private static final List<Node> NODES =
      List.of(new Node("n0", "a", 8), new Node("n1", "a", 8), new Node("n2", "a", 6));

  private static TestJob gang(String name, int replicas, int slotsPerReplica) {
    return job(name).slotsPerReplica(slotsPerReplica).elasticity(new Elasticity.Rigid(replicas));
  }

  private static Plan plan(String policy, JobState... jobs) {
    return Policies.create(policy, PolicyContext.online(1))
        .plan(new Snapshot(Instant.EPOCH, NODES, List.of(jobs)));
  }

  /**
   * Of 22 slots, first takes 3 x 4: no node has 12, so the freest, n0, holds two of its replicas
   * and n1 the third. n1 then has 4 and n2 6: second (2 x 2) fills n1. third (1 x 6) fills n2.
   * fourth finds nothing.
   */
  @Test
  void fifoPacksWholeReplicas() {
    JobState first = gang("first", 3, 4).build();
    JobState second = gang("second", 2, 2).build();
    JobState third = gang("third", 1, 6).build();
    JobState fourth = gang("fourth", 1, 1).build();
    Plan plan = plan("fifo", first, second, third, fourth);
    assertThat(plan.allocation(first.id()).replicasByNode()).isEqualTo(Map.of("n0", 2, "n1", 1));
    assertThat(plan.allocation(second.id())).isEqualTo(Allocation.on("n1", 2, 2));
    assertThat(plan.allocation(third.id())).isEqualTo(Allocation.on("n2", 1, 6));
    assertThat(plan.allocation(fourth.id())).isEqualTo(Allocation.NONE);
  }

  /** 22 slots, but n2 holds one replica of 4 and a remainder of 2: five replicas are the most. */
  @Test
  void aRemainderOfANodeIsNoReplica() {
    JobState five = gang("five", 5, 4).build();
    assertThat(plan("tiresias", five).allocation(five.id()).replicasByNode())
        .isEqualTo(Map.of("n0", 2, "n1", 2, "n2", 1));
    // Four of 5 are 20 slots, but no node holds two of them.
    JobState four = gang("four", 4, 5).build();
    JobState after = gang("after", 1, 1).build();
    for (String policy : List.of("tiresias", "srtf", "shockwave", "gavel", "sia", "kastor")) {
      Plan plan = plan(policy, four, after);
      assertThat(plan.allocation(four.id())).as(policy).isEqualTo(Allocation.NONE);
      assertThat(plan.allocation(after.id()).slots()).as(policy).isEqualTo(1);
    }
  }

  /**
   * A job of replicas of 8 gets whole nodes; one of replicas of 1 takes what is left beside them.
   */
  @Test
  void kastorGivesLargeReplicasTheNodesThatCanHoldThem() {
    JobState large = gang("large", 2, 8).model(TestJob.SCALABLE, 2).build();
    JobState small = gang("small", 6, 1).model(TestJob.SCALABLE, 6).build();
    Plan plan = plan("kastor", small, large);
    assertThat(plan.allocation(large.id()).replicasByNode()).isEqualTo(Map.of("n0", 1, "n1", 1));
    assertThat(plan.allocation(small.id())).isEqualTo(Allocation.on("n2", 6));
  }

  /** The small jobs run on the only nodes that could hold the large replica: one of them moves. */
  @Test
  void kastorMovesSmallReplicasOutOfTheWayOfALargeOne() {
    Duration settled = Duration.ofMinutes(10);
    JobState one =
        job("one")
            .replicas(4, 4)
            .model(TestJob.SCALABLE, 4)
            .on("n0", 4)
            .sinceChange(settled)
            .build();
    JobState two =
        job("two")
            .replicas(4, 4)
            .model(TestJob.SCALABLE, 4)
            .on("n1", 4)
            .sinceChange(settled)
            .build();
    JobState large = gang("large", 1, 8).model(TestJob.SCALABLE, 1).build();
    Plan plan = plan("kastor", one, two, large);
    assertThat(plan.allocation(large.id()).slots()).isEqualTo(8);
    assertThat(plan.allocation(one.id()).slots()).isEqualTo(4);
    assertThat(plan.allocation(two.id()).slots()).isEqualTo(4);
  }

  /** Two replicas of 3 on a node of 8, and the remainder of 2 of each node to nobody. */
  @Test
  void sizesThatDoNotDivideANodeLeaveItsRemainder() {
    JobState odd = job("odd").slotsPerReplica(3).replicas(6, 6).model(TestJob.SCALABLE, 6).build();
    for (String policy : Policies.names()) {
      assertThat(plan(policy, odd).allocation(odd.id()).replicasByNode())
          .as(policy)
          .isEqualTo(Map.of("n0", 2, "n1", 2, "n2", 2));
    }
  }

  /** Of 22 slots 16 are wanted and 14 free until the two replicas of 4 end in 100 s. */
  @Test
  void forecastsCountSlots() {
    JobState runs = gang("runs", 2, 4).on("n0", 2).build();
    JobState waits = gang("waits", 2, 8).build();
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    assignments.put(runs.id(), assignment(runs.allocation(), Map.of(REMAINING_SECONDS, 100.0)));
    assignments.put(
        waits.id(),
        assignment(Allocation.NONE, Map.of(LEAST_SLOTS, 16.0, REMAINING_SECONDS, 10.0)));
    Snapshot snapshot = new Snapshot(Instant.EPOCH, NODES, List.of(runs, waits));
    Forecast forecast =
        Objects.requireNonNull(Forecast.of(snapshot, new Plan(assignments)).get(waits.id()));
    assertThat(forecast.start()).contains(Instant.EPOCH.plusSeconds(100));
    assertThat(forecast.finish()).contains(Instant.EPOCH.plusSeconds(110));
  }

  private static Plan.Assignment assignment(
      Allocation allocation, Map<ReasonNumber, Double> numbers) {
    SequencedMap<String, Double> byKey = new LinkedHashMap<>();
    numbers.forEach((number, value) -> number.put(byKey, value));
    return new Plan.Assignment(allocation, new Reason("Test", "As the test says.", byKey));
  }
}
