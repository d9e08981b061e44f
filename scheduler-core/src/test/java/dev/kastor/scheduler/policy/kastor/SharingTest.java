package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Slots that share devices. */
final class SharingTest {
  private static final Duration LONG_AGO = Duration.ofMinutes(5);

  /** A job of which is known for how long it goes on. */
  private static TestJob scalable(String name) {
    return unknown(name).steps(10, 1e6);
  }

  private static TestJob unknown(String name) {
    return job(name)
        .model(TestJob.SCALABLE, 8)
        .rescaleCost(Duration.ZERO)
        .sinceChange(LONG_AGO)
        .age(LONG_AGO);
  }

  /** The replicas that each job gets on a node of eight slots. */
  private static List<Integer> replicas(double slotsPerDevice, List<JobState> jobs) {
    return replicas(List.of(new Node("n0", "a", 8).withSharing(slotsPerDevice)), jobs);
  }

  private static List<Integer> replicas(List<Node> nodes, List<JobState> jobs) {
    Plan plan = new KastorPolicy(TestOptions.USUAL).plan(new Snapshot(Instant.EPOCH, nodes, jobs));
    return jobs.stream().map(job -> plan.allocation(job.id()).replicas()).toList();
  }

  private static List<JobState> waiting(int count) {
    List<JobState> jobs = new ArrayList<>();
    for (int j = 0; j < count; j++) {
      jobs.add(scalable("job-" + j).build());
    }
    return jobs;
  }

  @ParameterizedTest
  @CsvSource({"1, 8", "2, 4", "4, 2", "8, 1", "3, 3"})
  void aLoneJobGrowsToTheDevices(double slotsPerDevice, int replicas) {
    assertThat(replicas(slotsPerDevice, waiting(1))).containsExactly(replicas);
  }

  @Test
  void twoJobsShareTheDevicesAndLeaveTheOtherSlots() {
    List<JobState> jobs = List.of(unknown("one").build(), unknown("two").build());
    assertThat(replicas(1, jobs)).containsExactly(4, 4);
    assertThat(replicas(2, jobs)).containsExactly(2, 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 6, 8})
  void noJobWaitsForADeviceWhereASlotIsFree(int count) {
    assertThat(replicas(2, waiting(count))).hasSize(count).containsOnly(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 10})
  void aJobGivesBackWhatNewcomersNeed(int rescaleSeconds) {
    Duration pause = Duration.ofSeconds(rescaleSeconds);
    List<JobState> jobs = new ArrayList<>(waiting(4));
    jobs.add(scalable("grown").on("n0", 4).rescaleCost(pause).build());
    assertThat(replicas(2, jobs)).containsExactly(1, 1, 1, 1, 1);
  }

  @Test
  void whatIsHeldBeyondTheDevicesIsGivenBackWhateverAPauseCosts() {
    Duration pause = Duration.ofSeconds(10);
    JobState grown = unknown("grown").on("n0", 4).rescaleCost(pause).build();
    JobState begun = unknown("begun").on("n0", 1).rescaleCost(pause).build();
    assertThat(replicas(2, List.of(grown, begun))).containsExactly(2, 2);
    assertThat(replicas(2, List.of(unknown("all").on("n0", 8).rescaleCost(pause).build())))
        .containsExactly(4);
  }

  @Test
  void aNewcomerIsNotHeldUpByAJobThatHasAllDevices() {
    List<Node> nodes = List.of(new Node("n0", "a", 12).withSharing(1.5));
    List<JobState> jobs = new ArrayList<>();
    jobs.add(scalable("grown").on("n0", 8).build());
    for (int j = 0; j < 4; j++) {
      jobs.add(scalable("small-" + j).replicas(1, 1).on("n0", 1).build());
    }
    jobs.add(scalable("new").replicas(1, 1).build());
    List<Integer> given = replicas(nodes, jobs);
    assertThat(given.subList(1, 6)).containsOnly(1);
    assertThat(given.getFirst()).isBetween(1, 4);
  }

  @Test
  void jobsOfLowerPrioritiesKeepNobodyFromGrowing() {
    List<JobState> jobs = new ArrayList<>();
    jobs.add(scalable("urgent").priority(1).build());
    waiting(4).forEach(jobs::add);
    assertThat(replicas(2, jobs)).containsExactly(4, 1, 1, 1, 1);
  }

  @Test
  void aJobThatNeedsMoreThanThereAreDevicesTrains() {
    JobState four = scalable("four").replicas(4, 4).build();
    assertThat(replicas(4, List.of(four))).containsExactly(4);
    assertThat(replicas(4, List.of(four, scalable("one").build()))).containsExactly(4, 1);
  }

  @Test
  void newcomersTakeFreeSlotsWhileAJobKeepsWhatItHas() {
    JobState grown = scalable("grown").on("n0", 4).sinceChange(Duration.ofSeconds(1)).build();
    assertThat(replicas(2, List.of(grown, scalable("new").build()))).containsExactly(4, 1);
  }

  @Test
  void nodesWhoseSlotsHaveTheirOwnDevicesAreUsedInFull() {
    List<Node> nodes = List.of(new Node("n0", "a", 4).withSharing(4), new Node("n1", "b", 4));
    assertThat(replicas(nodes, List.of(scalable("on-b").on("n1", 2).build()))).containsExactly(4);
  }

  @Test
  void ofSeveralNodesOfOneKindASlotCountsAsADevice() {
    List<Node> nodes =
        List.of(new Node("n0", "a", 4).withSharing(2), new Node("n1", "a", 4).withSharing(2));
    assertThat(replicas(nodes, waiting(1))).containsExactly(8);
  }

  @Test
  void aNodeHasADeviceWhereItHasASlot() {
    Node node = new Node("n0", "a", 3);
    assertThat(node.devices()).isEqualTo(3);
    assertThat(node.withSharing(2).devices()).isEqualTo(2);
    assertThat(node.withSharing(100).devices()).isOne();
    assertThat(new Node("n0", "a", 0).withSharing(2).devices()).isZero();
    assertThat(node.withSharing(2).withSlowdown(3).devices()).isEqualTo(2);
  }
}
