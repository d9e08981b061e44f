package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

final class AllocationTest {
  private static SequencedMap<String, Integer> byNode(int first, int second) {
    SequencedMap<String, Integer> map = new LinkedHashMap<>();
    map.put("n1", first);
    map.put("n0", second);
    return map;
  }

  @Test
  void countsReplicasAndTheirSlots() {
    Allocation allocation = new Allocation(byNode(1, 2), 4);
    assertThat(allocation.replicas()).isEqualTo(3);
    assertThat(allocation.slots()).isEqualTo(12);
    assertThat(allocation.nodes()).isEqualTo(2);
    assertThat(allocation.replicas(1)).isEqualTo(2);
    assertThat(allocation.slots(1)).isEqualTo(8);
    assertThat(allocation.replicaCounts()).containsExactly(1, 2);
    assertThat(allocation.replicasByNode()).isEqualTo(Map.of("n1", 1, "n0", 2));
    assertThat(allocation.slotsByNode()).isEqualTo(Map.of("n1", 4, "n0", 8));
    assertThat(allocation).hasToString("{n1=1, n0=2} of 4 slots");
  }

  @Test
  void isMadeOfTheSlotsOfWholeReplicasAlone() {
    assertThat(Allocation.ofSlots(byNode(4, 8), 4)).isEqualTo(new Allocation(byNode(1, 2), 4));
    assertThatThrownBy(() -> Allocation.ofSlots(byNode(6, 6), 4))
        .hasMessage("6 slots of node n1 are not whole replicas of 4 slots");
  }

  @Test
  void replicasOfAnotherSizeAreAnotherAllocation() {
    Allocation ones = Allocation.on("n0", 2);
    assertThat(ones).isNotEqualTo(Allocation.on("n0", 2, 2)).isEqualTo(Allocation.on("n0", 2, 1));
    assertThat(ones.hashCode()).isNotEqualTo(Allocation.on("n0", 2, 2).hashCode());
    assertThat(new Allocation(byNode(1, 2), 2))
        .isEqualTo(new Allocation(byNode(1, 2).reversed(), 2));
    assertThat(new Allocation(new LinkedHashMap<>(), 8)).isEqualTo(Allocation.NONE);
  }

  @Test
  void whatTwoHaveInCommonStaysWhereItIs() {
    Allocation one = new Allocation(byNode(3, 2));
    assertThat(one.common(new Allocation(byNode(1, 4)))).isEqualTo(new Allocation(byNode(1, 2)));
    assertThat(one.common(one)).isEqualTo(one);
    assertThat(one.common(Allocation.on("elsewhere", 4))).isEqualTo(Allocation.NONE);
    assertThat(one.common(new Allocation(byNode(3, 2), 2)))
        .as("replicas of another size")
        .isEqualTo(Allocation.NONE);
  }

  @Test
  void refusesReplicasOfNoSlots() {
    assertThatThrownBy(() -> Allocation.on("n0", 1, 0)).hasMessageContaining("slotsPerReplica");
  }
}
