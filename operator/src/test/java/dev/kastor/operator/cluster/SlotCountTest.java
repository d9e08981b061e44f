package dev.kastor.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SlotCountTest {
  private final SlotCount slots = new SlotCount("nvidia.com/gpu");

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
