package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where slots are found, on clusters small enough to see it. */
final class PackingTest {
  private final List<Bid> bids = new ArrayList<>();

  private static Packing packing(Node... nodes) {
    return new Packing(Pools.of(List.of(nodes), TestOptions.USUAL), 100);
  }

  private static Node node(String name, int slots) {
    return new Node(name, "a", slots);
  }

  private static Node racked(String name, String rack) {
    return new Node(name, "a", 4, rack, false, 0);
  }

  private Bid bid(Allocation held) {
    return bid(job("job-" + bids.size()).on(held).build());
  }

  private Bid bid(JobState job) {
    Offers none = new Offers(new int[0], new int[0], new double[0], 0);
    Bid bid = new Bid(bids.size(), job, none, -1, 1, true, 1);
    bids.add(bid);
    return bid;
  }

  /** One slot of a node, worth 1 there and so much elsewhere, is kept for a job. */
  private Bid settled(Packing packing, String node, double elsewhere) {
    JobState job = job("job-" + bids.size()).on(Allocation.on(node, 1)).build();
    Offers one = new Offers(new int[1], new int[] {1}, new double[] {1}, 1);
    Bid bid = new Bid(bids.size(), job, one, 0, 1, true, 1);
    bid.value[0] = 1;
    bid.valueRestarted[0] = elsewhere;
    bids.add(bid);
    packing.keep(bid, bid.index, 0);
    return bid;
  }

  /** A new job for which four slots are worth so much. */
  private Bid worth(double value) {
    Offers four = new Offers(new int[1], new int[] {4}, new double[] {1}, 1);
    Bid bid = new Bid(bids.size(), job("job-" + bids.size()).build(), four, -1, 1, true, 1);
    bid.value[0] = value;
    bids.add(bid);
    return bid;
  }

  private int want(Packing packing, Bid bid, int slots) {
    packing.want(bid, bid.index, 0, slots);
    return bid.index;
  }

  @Test
  void keepsInPlaceWhatIsHeld() {
    Packing packing = packing(node("n0", 4), node("n1", 4));
    Bid here = bid(Allocation.on("n1", 2));
    assertThat(packing.keep(here, here.index, 0)).isTrue();
    int other = want(packing, bid(Allocation.NONE), 2);
    packing.place();
    assertThat(packing.allocation(here.index)).isEqualTo(Allocation.on("n1", 2));
    assertThat(packing.allocation(other)).isEqualTo(Allocation.on("n1", 2));
  }

  @Test
  void keepsNothingOnANodeThatIsGoneOrFull() {
    Packing packing = packing(node("n0", 1));
    Bid gone = bid(Allocation.on("lost", 1));
    Bid tooMany = bid(Allocation.on("n0", 2));
    assertThat(packing.keep(gone, gone.index, 0)).isFalse();
    assertThat(packing.keep(tooMany, tooMany.index, 0)).isFalse();
  }

  @Test
  void prefersItsOwnNodeToAFullerOne() {
    Packing packing = packing(node("n0", 2), node("n1", 4));
    int grown = want(packing, bid(Allocation.on("n1", 1)), 2);
    packing.place();
    assertThat(packing.allocation(grown)).isEqualTo(Allocation.on("n1", 2));
  }

  @Test
  void prefersTheFullestOfItsOwnNodes() {
    for (List<String> names : List.of(List.of("n0", "n1"), List.of("n1", "n0"))) {
      Packing packing = packing(node("n0", 4), node("n1", 4));
      packing.fix(Allocation.on(names.getFirst(), 1));
      LinkedHashMap<String, Integer> held = new LinkedHashMap<>(Map.of("n0", 1));
      held.put("n1", 1);
      int shrunk = want(packing, bid(new Allocation(held)), 2);
      packing.place();
      assertThat(packing.allocation(shrunk)).isEqualTo(Allocation.on(names.getFirst(), 2));
    }
  }

  @Test
  void fillsTheFullestNodeThatIsEnough() {
    Packing packing = packing(node("n0", 4), node("n1", 2), node("n2", 3));
    int one = want(packing, bid(Allocation.NONE), 2);
    packing.place();
    assertThat(packing.allocation(one)).isEqualTo(Allocation.on("n1", 2));
  }

  @Test
  void staysWithinOneRackWhereItCan() {
    Packing packing =
        packing(racked("n0", "r0"), racked("n1", "r1"), racked("n2", "r0"), racked("n3", "r1"));
    packing.fix(Allocation.on("n0", 1));
    int wide = want(packing, bid(Allocation.NONE), 8);
    packing.place();
    assertThat(packing.allocation(wide).replicasByNode()).containsOnlyKeys("n1", "n3");
  }

  @Test
  void leavesTheLargerRackToThoseWhoNeedIt() {
    Packing packing =
        packing(
            racked("n0", "big"),
            racked("n1", "big"),
            racked("n2", "big"),
            racked("n3", "small"),
            racked("n4", "small"));
    int wide = want(packing, bid(Allocation.NONE), 8);
    packing.place();
    assertThat(packing.allocation(wide).replicasByNode()).containsOnlyKeys("n3", "n4");
  }

  @Test
  void growsWithinItsRackWhereThatHasRoom() {
    Packing packing =
        packing(racked("n0", "b"), racked("n1", "a"), racked("n2", "b"), racked("n3", "b"));
    int grown = want(packing, bid(Allocation.on("n0", 4)), 8);
    packing.place();
    assertThat(packing.allocation(grown).replicasByNode()).containsOnlyKeys("n0", "n2");
  }

  @Test
  void movesToOneRackWhereItKeepsNoNode() {
    Packing packing =
        packing(racked("n0", "a"), racked("n1", "b"), racked("n2", "c"), racked("n3", "c"));
    packing.fix(Allocation.on("n1", 4));
    int moved = want(packing, bid(Allocation.on("n1", 4)), 8);
    packing.place();
    assertThat(packing.allocation(moved).replicasByNode()).containsOnlyKeys("n2", "n3");
  }

  @Test
  void movesASmallerJobAsideWhereAWholeNodeIsNeeded() {
    Packing packing = packing(node("n0", 4), node("n1", 4));
    Bid small = bid(Allocation.on("n0", 1));
    Bid wider = bid(Allocation.on("n1", 2));
    packing.keep(small, small.index, 0);
    packing.keep(wider, wider.index, 0);
    int whole = want(packing, bid(Allocation.NONE), 4);
    packing.place();
    assertThat(packing.allocation(whole)).isEqualTo(Allocation.on("n0", 4));
    assertThat(packing.allocation(small.index)).isEqualTo(Allocation.on("n1", 1));
    assertThat(packing.allocation(wider.index)).isEqualTo(Allocation.on("n1", 2));
  }

  @Test
  void movesTheJobThatLosesLeastByIt() {
    Packing packing = packing(node("n0", 4), node("n1", 4), node("n2", 2));
    Bid nearItsEnd = settled(packing, "n0", 0.1);
    Bid hardlyBothered = settled(packing, "n1", 0.9);
    int whole = want(packing, worth(3), 4);
    packing.place();
    assertThat(packing.allocation(whole)).isEqualTo(Allocation.on("n1", 4));
    assertThat(packing.allocation(nearItsEnd.index)).isEqualTo(Allocation.on("n0", 1));
    assertThat(packing.allocation(hardlyBothered.index)).isEqualTo(Allocation.on("n2", 1));
  }

  @Test
  void movesNobodyWhoLosesMoreThanIsGained() {
    Packing packing = packing(node("n0", 4), node("n1", 4), node("n2", 2));
    settled(packing, "n0", 0.1);
    settled(packing, "n1", 0.1);
    int whole = want(packing, worth(0.5), 4);
    packing.place();
    assertThat(packing.allocation(whole).nodes()).isEqualTo(2);
    assertThat(packing.allocation(0)).isEqualTo(Allocation.on("n0", 1));
    assertThat(packing.allocation(1)).isEqualTo(Allocation.on("n1", 1));
  }

  @Test
  void movesNobodyWhereANodeIsFree() {
    Packing packing = packing(node("n0", 4), node("n1", 4));
    Bid small = bid(Allocation.on("n0", 1));
    packing.keep(small, small.index, 0);
    int whole = want(packing, bid(Allocation.NONE), 4);
    packing.place();
    assertThat(packing.allocation(whole)).isEqualTo(Allocation.on("n1", 4));
    assertThat(packing.allocation(small.index)).isEqualTo(Allocation.on("n0", 1));
  }

  @Test
  void movesNobodyForWhatIsOnlyAdded() {
    Packing packing = packing(node("n0", 4), node("n1", 4));
    for (String name : List.of("n0", "n1")) {
      Bid small = bid(Allocation.on(name, 1));
      packing.keep(small, small.index, 0);
    }
    Bid added = bid(Allocation.NONE);
    assertThat(packing.add(added, added.index, 0, 4)).isTrue();
    assertThat(packing.allocation(added.index).nodes()).isEqualTo(2);
    assertThat(packing.allocation(0)).isEqualTo(Allocation.on("n0", 1));
    assertThat(packing.allocation(1)).isEqualTo(Allocation.on("n1", 1));
  }

  @Test
  void splitsNoReplicaOfAPipeline() {
    Packing packing = packing(node("n0", 3), node("n1", 3), node("n2", 3));
    int pipeline = want(packing, bid(pipeline(2)), 4);
    packing.place();
    assertThat(packing.allocation(pipeline).slotsByNode()).isEqualTo(Map.of("n0", 2, "n1", 2));
    // One slot is left on each of two nodes, and three on the third: room for one more replica.
    Bid tooWide = bid(pipeline(2));
    assertThat(packing.add(tooWide, tooWide.index, 0, 4)).isFalse();
    assertThat(packing.add(tooWide, tooWide.index, 0, 2)).isTrue();
    assertThat(packing.allocation(tooWide.index)).isEqualTo(Allocation.on("n2", 1, 2));
  }

  @Test
  void placesNoReplicaThatIsLargerThanEveryNode() {
    Packing packing = packing(node("n0", 4), node("n1", 4), node("n2", 4));
    Bid wide = bid(pipeline(8));
    assertThat(packing.add(wide, wide.index, 0, 8)).isFalse();
    want(packing, wide, 8);
    packing.place();
    assertThat(packing.placed(wide.index)).isFalse();
  }

  private JobState pipeline(int slotsPerReplica) {
    BatchLimits limits = new BatchLimits(64, 4096, 8, 256, true);
    JobSpec spec =
        new JobSpec(
            new JobId("test", "pipeline-" + bids.size()),
            Instant.EPOCH,
            "",
            new Elasticity.Rigid(2),
            2,
            limits,
            "",
            new LinkedHashMap<>(Map.of("a", new GpuTraits(limits, slotsPerReplica, 1))));
    return new JobState(
        spec,
        Allocation.NONE,
        Optional.empty(),
        0,
        Optional.empty(),
        Duration.ZERO,
        0,
        0,
        Duration.ofSeconds(30),
        false);
  }
}
