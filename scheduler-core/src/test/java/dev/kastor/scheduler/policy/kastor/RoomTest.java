package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Node;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Room that running jobs make for larger ones; what each loses by that is a sum of halves. */
final class RoomTest {
  private final List<Bid> bids = new ArrayList<>();

  private static Packing packing(int mostMoves, Node... nodes) {
    return new Packing(Pools.of(List.of(nodes), TestOptions.USUAL), mostMoves);
  }

  private static Node node(String name, int slots) {
    return new Node(name, "a", slots);
  }

  private static Node racked(String name, String rack) {
    return new Node(name, "a", 4, rack, false, 0);
  }

  private static Offers offers(int slots) {
    return new Offers(new int[1], new int[] {slots}, new double[] {1}, 1);
  }

  /** A job that runs on one slot of a node and loses so much if it has to leave it. */
  private int runs(Packing packing, String node, double loss) {
    Bid bid =
        new Bid(
            bids.size(),
            job("job-" + bids.size()).on(Allocation.on(node, 1)).build(),
            offers(1),
            0,
            1,
            true,
            1);
    bid.value[0] = 1;
    bid.valueRestarted[0] = 1 - loss;
    bids.add(bid);
    assertThat(packing.keep(bid, bid.index, 0)).isTrue();
    return bid.index;
  }

  /** A job for which so many slots, of which a replica has some, are worth so much. */
  private int wants(Packing packing, int slots, int each, double gain, Allocation held) {
    var job = job("job-" + bids.size()).on(held).slotsPerReplica(each).build();
    Bid bid = new Bid(bids.size(), job, offers(slots), -1, 1, true, 1);
    bid.value[0] = gain;
    bids.add(bid);
    packing.want(bid, bid.index, 0, slots);
    return bid.index;
  }

  private static Map<String, Integer> slots(Packing packing, int bid) {
    return packing.allocation(bid).slotsByNode();
  }

  /** Two replicas of two slots need a slot of each node; b and d lose more than a and c. */
  @ParameterizedTest
  @CsvSource({"0.75, 100, true", "0.7, 100, false", "0.75, 1, false", "0.75, 2, true"})
  void thoseWhoLoseLeastMakeRoomForReplicas(double gain, int mostMoves, boolean worth) {
    Packing packing =
        packing(mostMoves, node("n0", 3), node("n1", 3), node("n2", 3), node("n3", 1));
    int a = runs(packing, "n0", 0.25);
    int b = runs(packing, "n0", 0.75);
    int c = runs(packing, "n1", 0.5);
    int d = runs(packing, "n1", 0.75);
    // It is the first to be asked, and would free a slot that is of no use.
    int e = runs(packing, "n2", 0.125);
    runs(packing, "n2", 4);
    runs(packing, "n2", 4);
    int wide = wants(packing, 4, 2, gain, Allocation.NONE);
    packing.place();
    assertThat(packing.placed(wide)).isEqualTo(worth);
    assertThat(slots(packing, wide)).isEqualTo(worth ? Map.of("n0", 2, "n1", 2) : Map.of());
    assertThat(slots(packing, a)).isEqualTo(Map.of(worth ? "n3" : "n0", 1));
    assertThat(packing.placed(c)).isEqualTo(!worth);
    assertThat(slots(packing, b)).isEqualTo(Map.of("n0", 1));
    assertThat(slots(packing, d)).isEqualTo(Map.of("n1", 1));
    assertThat(slots(packing, e)).isEqualTo(Map.of("n2", 1));
    assertThat(packing.movedFor().keySet()).isEqualTo(worth ? Set.of(a, c) : Set.of());
  }

  /** Two whole nodes: those are left whose jobs lose least, of nodes that are whole. */
  @ParameterizedTest
  @CsvSource({"0.375, 100, true", "0.37, 100, false", "0.375, 1, false"})
  void thoseWhoLoseLeastLeaveWholeNodes(double gain, int mostMoves, boolean worth) {
    Packing packing =
        packing(
            mostMoves, node("n0", 4), node("n1", 4), node("n2", 4), node("n3", 4), node("n4", 2));
    int a = runs(packing, "n0", 0.125);
    int b = runs(packing, "n1", 0.5);
    int c = runs(packing, "n2", 0.25);
    int d = runs(packing, "n3", 0.5);
    int wide = wants(packing, 8, 1, gain, Allocation.NONE);
    packing.place();
    assertThat(slots(packing, b)).isEqualTo(Map.of("n1", 1));
    assertThat(slots(packing, d)).isEqualTo(Map.of("n3", 1));
    assertThat(slots(packing, a)).isEqualTo(Map.of(worth ? "n4" : "n0", 1));
    assertThat(slots(packing, c)).isEqualTo(Map.of(worth ? "n4" : "n2", 1));
    assertThat(slots(packing, wide))
        .isEqualTo(worth ? Map.of("n0", 4, "n2", 4) : Map.of("n0", 3, "n1", 3, "n2", 2));
  }

  @Test
  void aNodeWithSlotsThatCannotMoveIsNotEmptied() {
    Packing packing = packing(100, node("n0", 4), node("n1", 4), node("n2", 2));
    packing.fix(Allocation.on("n0", 1));
    int a = runs(packing, "n1", 0.5);
    int whole = wants(packing, 4, 1, 9, Allocation.NONE);
    packing.place();
    assertThat(slots(packing, whole)).isEqualTo(Map.of("n1", 4));
    assertThat(slots(packing, a)).isEqualTo(Map.of("n2", 1));
  }

  /** Whole nodes, and what is left over on the fullest of the others that is enough. */
  @Test
  void whatIsNoWholeNodeFillsAnother() {
    Packing packing = packing(100, node("n0", 4), node("n1", 4), node("n2", 4), node("n3", 4));
    packing.fix(Allocation.on("n2", 1));
    packing.fix(Allocation.on("n3", 2));
    int wide = wants(packing, 6, 1, 1, Allocation.NONE);
    packing.place();
    assertThat(slots(packing, wide)).isEqualTo(Map.of("n0", 4, "n3", 2));
    int wider = wants(packing, 7, 1, 1, Allocation.NONE);
    packing.place();
    assertThat(slots(packing, wider)).isEqualTo(Map.of("n1", 4, "n2", 3));
  }

  @Test
  void ofItsOwnNodesThoseStayThatAreFree() {
    Packing packing = packing(100, node("n0", 4), node("n1", 4), node("n2", 4), node("n3", 4));
    packing.fix(Allocation.on("n1", 1));
    LinkedHashMap<String, Integer> held = new LinkedHashMap<>();
    for (String name : List.of("n1", "n2", "lost", "n3")) {
      held.put(name, 4);
    }
    int shrunk = wants(packing, 8, 1, 1, new Allocation(held));
    packing.place();
    assertThat(slots(packing, shrunk)).isEqualTo(Map.of("n2", 4, "n3", 4));
  }

  @Test
  void aRackThatIsNotEnoughIsLeftToOthers() {
    Packing packing =
        packing(
            100,
            racked("n0", "b"),
            racked("n1", "b"),
            racked("n2", "a"),
            racked("n3", "a"),
            racked("n4", "c"));
    int grown = wants(packing, 12, 1, 1, Allocation.on("n0", 4));
    packing.place();
    assertThat(slots(packing, grown).keySet()).containsExactlyInAnyOrder("n0", "n2", "n3");
  }

  @Test
  void racksAreTakenTheLargestFirstWhereNoneIsEnough() {
    Packing packing =
        packing(
            100,
            racked("n0", "a"),
            racked("n1", "b"),
            racked("n2", "b"),
            racked("n3", "c"),
            racked("n4", "c"),
            racked("n5", "c"));
    int wide = wants(packing, 16, 1, 1, Allocation.NONE);
    packing.place();
    assertThat(slots(packing, wide).keySet()).containsExactlyInAnyOrder("n3", "n4", "n5", "n0");
  }

  @Test
  void whatIsAddedFillsTheFullestNodeOrElseSeveral() {
    Packing packing = packing(100, node("n0", 4), node("n1", 3));
    assertThat(packing.holds(Allocation.on("n1", 3))).isTrue();
    assertThat(packing.holds(Allocation.on("n1", 4))).isFalse();
    Bid one = new Bid(0, job("one").build(), offers(3), -1, 1, true, 1);
    assertThat(packing.add(one, 0, 0, 3)).isTrue();
    assertThat(slots(packing, 0)).isEqualTo(Map.of("n1", 3));
    Bid more = new Bid(1, job("more").build(), offers(5), -1, 1, true, 1);
    assertThat(packing.add(more, 1, 0, 5)).isFalse();
    assertThat(packing.add(more, 1, 0, 4)).isTrue();
    assertThat(packing.holds(Allocation.on("n0", 1))).isFalse();
  }
}
