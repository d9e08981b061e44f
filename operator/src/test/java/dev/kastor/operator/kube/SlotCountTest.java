package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotCountTest {
  private final SlotCount slots = new SlotCount("nvidia.com/gpu");
  private final ComingPods coming = new ComingPods();

  @Test
  void podsTakeWhatTheyAskFor() {
    List<Pod> pods = List.of(pod(true, "Running", 1), pod(false, "Running", 2));
    assertThat(slots.free(node(8), pods)).isEqualTo(5);
  }

  @Test
  void endedPodsHoldNothing() {
    List<Pod> pods = List.of(pod(false, "Succeeded", 2), pod(false, "Failed", 2));
    assertThat(slots.free(node(8), pods)).isEqualTo(8);
  }

  @Test
  void sumsThatNoIntHoldsLeaveNothing() {
    Pod both =
        new PodBuilder(pod(false, "Running", Integer.MAX_VALUE))
            .editSpec()
            .addNewContainerLike(
                pod(false, "Running", Integer.MAX_VALUE - 47).getSpec().getContainers().getFirst())
            .endContainer()
            .endSpec()
            .build();
    assertThat(slots.free(node(8), List.of(both))).isZero();
    assertThat(slots.heldByNode(List.of(both), Map.of(), coming))
        .containsEntry("n1", Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854775807", "9E", "1e18", "-5", "0.5"})
  void amountsOfAnySizeAreCounted(String amount) {
    Pod pod = pod(false, "Running", 0);
    pod.getSpec()
        .getContainers()
        .getFirst()
        .getResources()
        .setLimits(Map.of("nvidia.com/gpu", new Quantity(amount)));
    assertThat(slots.free(node(8), List.of(pod))).isEqualTo(amount.matches("-.*|0.*") ? 8 : 0);
  }

  @Test
  void noPodCountsForMoreThanItsNodeHas() {
    List<Pod> pods = List.of(pod(false, "Running", 100), pod(false, "Running", 1));
    assertThat(slots.held(node(8), pods)).isEqualTo(9);
  }

  @Test
  void podsOnTheirWayCountForWhatTheJobWasGivenThere() {
    Pod comes =
        new PodBuilder(pod(true, "Pending", 100)).editSpec().withNodeName(null).endSpec().build();
    comes.getMetadata().setAnnotations(Map.of(Labels.NODE, "n1"));
    assertThat(slots.heldByNode(List.of(comes, comes, comes), Map.of("n1", 2), coming))
        .isEqualTo(Map.of("n1", 2));
    assertThat(slots.heldByNode(List.of(comes), Map.of(), coming)).isEmpty();
  }

  @Test
  void podsThatWeMadeCountWhateverTheirJobIsGivenSince() {
    Pod ours = comes("a", 2);
    Pod anybodys = comes("b", 2);
    coming.add(ours);

    assertThat(slots.coming(List.of(ours, anybodys), 0, coming)).isEqualTo(2);
    assertThat(slots.coming(List.of(ours, anybodys), 3, coming)).isEqualTo(3);
    assertThat(slots.heldByNode(List.of(ours, anybodys), Map.of(), coming))
        .isEqualTo(Map.of("n1", 2));
  }

  @Test
  void podsThatComeNoMoreAreForgottenUnlessTheyWereMadeMeanwhile() {
    Pod bound = comes("a", 1);
    Pod late = comes("b", 1);
    coming.add(bound);
    Set<String> known = coming.on("n1");
    coming.add(late);

    coming.keep("n1", known, List.of());

    assertThat(coming.on("n1")).containsExactly("b");
    coming.keep("n1", coming.on("n1"), List.of(late));
    assertThat(coming.contains(late)).isTrue();
    assertThat(coming.contains(bound)).isFalse();
  }

  private static Pod comes(String uid, int gpus) {
    return new PodBuilder(pod(true, "Pending", gpus))
        .editMetadata()
        .withUid(uid)
        .addToAnnotations(Labels.NODE, "n1")
        .endMetadata()
        .editSpec()
        .withNodeName(null)
        .endSpec()
        .build();
  }

  @Test
  void aPodOnItsWayCountsForTheSlotsOfItsReplica() {
    Pod comes =
        new PodBuilder(pod(true, "Pending", 4)).editSpec().withNodeName(null).endSpec().build();
    comes.getMetadata().setAnnotations(Map.of(Labels.NODE, "n1"));
    assertThat(slots.coming(comes)).isEqualTo(4);
    assertThat(slots.heldByNode(List.of(comes, pod(true, "Running", 4)), Map.of("n1", 8), coming))
        .isEqualTo(Map.of("n1", 8));
  }

  @Test
  void cordonedAndUnreadyNodesAreNotUsable() {
    assertThat(SlotCount.usable(node(8))).isTrue();
    Node cordoned =
        new NodeBuilder(node(8)).withNewSpec().withUnschedulable(true).endSpec().build();
    assertThat(SlotCount.usable(cordoned)).isFalse();
    Node unready =
        new NodeBuilder(node(8))
            .editStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus("Unknown")
            .endCondition()
            .endStatus()
            .build();
    assertThat(SlotCount.usable(unready)).isFalse();
  }

  private static Node node(int gpus) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("n1")
        .endMetadata()
        .withNewStatus()
        .withAllocatable(Map.of("nvidia.com/gpu", new Quantity(Integer.toString(gpus))))
        .endStatus()
        .build();
  }

  private static Pod pod(boolean ours, String phase, int gpus) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("p")
        .withNamespace("team")
        .withUid("p")
        .withLabels(ours ? Labels.of("bert") : Map.of())
        .endMetadata()
        .withNewSpec()
        .withNodeName("n1")
        .addNewContainer()
        .withNewResources()
        .withLimits(Map.of("nvidia.com/gpu", new Quantity(Integer.toString(gpus))))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }
}
