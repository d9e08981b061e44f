package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class LeanPodTest {
  private final Pod pod =
      new PodBuilder()
          .withNewMetadata()
          .withName("speech-0")
          .withNamespace("team")
          .addToAnnotations(Labels.NODE, "n1")
          .endMetadata()
          .withNewSpec()
          .withNodeName("n2")
          .withServiceAccountName("default")
          .addNewSchedulingGate("kastor.dev/gang")
          .addNewVolume()
          .withName("token")
          .endVolume()
          .addToOverhead("nvidia.com/gpu", new Quantity("1"))
          .addNewInitContainer()
          .withName("sidecar")
          .withRestartPolicy("Always")
          .withNewResources()
          .withLimits(Map.of("nvidia.com/gpu", new Quantity("3")))
          .endResources()
          .endInitContainer()
          .addNewInitContainer()
          .withName("fetch")
          .withNewResources()
          .withLimits(Map.of("nvidia.com/gpu", new Quantity("2")))
          .endResources()
          .endInitContainer()
          .addNewContainer()
          .withName("agent")
          .withImage("kastor/training-agent")
          .addNewEnv()
          .withName("KASTOR_JOB")
          .withValue("speech")
          .endEnv()
          .withNewResources()
          .withLimits(Map.of("nvidia.com/gpu", new Quantity("1")))
          .endResources()
          .endContainer()
          .endSpec()
          .withNewStatus()
          .withPhase("Running")
          .addNewCondition()
          .withType("PodScheduled")
          .withStatus("True")
          .withLastTransitionTime("2026-01-01T00:00:01Z")
          .endCondition()
          .addNewCondition()
          .withType("DisruptionTarget")
          .withStatus("True")
          .endCondition()
          .addNewContainerStatus()
          .withName("agent")
          .withNewState()
          .withNewRunning("2026-01-01T00:00:02Z")
          .endState()
          .endContainerStatus()
          .addNewContainerStatus()
          .withName("sidecar")
          .withRestartCount(3)
          .withNewState()
          .withNewWaiting("no such image", "ErrImagePull")
          .endState()
          .endContainerStatus()
          .endStatus()
          .build();

  @Test
  void keepsWhereAPodIsAndWhatItHolds() {
    Pod kept = LeanPod.of(pod);
    assertThat(PodPlace.on(kept)).contains("n2");
    assertThat(
            new SlotCount("nvidia.com/gpu").heldByNode(List.of(kept), Map.of(), new ComingPods()))
        .as("two of the init container beside the sidecar's three, and one of overhead")
        .isEqualTo(Map.of("n2", 6));
    assertThat(kept.getSpec().getSchedulingGates()).hasSize(1);
    assertThat(kept.getMetadata()).isEqualTo(pod.getMetadata());
    assertThat(kept.getStatus().getPhase()).isEqualTo("Running");
  }

  @Test
  void keepsOfItsStateWhatIsWrongAndWhenItStarted() {
    PodStatus kept = LeanPod.of(pod).getStatus();
    assertThat(kept.getConditions())
        .extracting(PodCondition::getType)
        .containsExactly("PodScheduled", "DisruptionTarget");
    assertThat(kept.getConditions().getFirst().getLastTransitionTime())
        .isEqualTo("2026-01-01T00:00:01Z");
    assertThat(kept.getContainerStatuses().getFirst().getState().getRunning().getStartedAt())
        .isEqualTo("2026-01-01T00:00:02Z");
    assertThat(kept.getContainerStatuses())
        .hasSize(2)
        .last()
        .satisfies(container -> {
          assertThat(container.getName()).isEqualTo("sidecar");
          assertThat(container.getState().getWaiting().getReason()).isEqualTo("ErrImagePull");
          assertThat(container.getRestartCount()).isNull();
        });
  }

  @Test
  void keepsOfAPendingPodWhetherItsNodeHasTakenIt() {
    Pod pending = new PodBuilder(pod).editStatus().withPhase("Pending").endStatus().build();
    assertThat(PodPlace.on(LeanPod.of(pending))).contains("n2");
    Pod named = new PodBuilder(pod).withNewStatus().withPhase("Pending").endStatus().build();
    assertThat(PodPlace.on(LeanPod.of(named))).isEmpty();
    Pod taken =
        new PodBuilder(named)
            .editStatus()
            .withStartTime("2026-01-01T00:00:00Z")
            .endStatus()
            .build();
    assertThat(PodPlace.on(LeanPod.of(taken))).contains("n2");
  }

  @Test
  void keepsNoCollectionWithoutContent() {
    Pod kept = LeanPod.of(pod);
    assertThat(kept.getSpec().getTolerations()).isSameAs(List.of());
    assertThat(kept.getSpec().getContainers().getFirst().getEnv()).isSameAs(List.of());
    assertThat(kept.getStatus().getAdditionalProperties()).isSameAs(Map.of());
    assertThat(kept.getMetadata().getLabels()).isSameAs(Map.of());
    // Who makes another of it starts from there and can add what it wants.
    assertThat(new PodBuilder(kept).editMetadata().addToLabels("a", "b").endMetadata().build())
        .returns("b", made -> made.getMetadata().getLabels().get("a"));
  }

  @Test
  void dropsHowItIsMade() {
    Pod kept = LeanPod.of(pod);
    assertThat(kept.getSpec().getVolumes()).isEmpty();
    assertThat(kept.getSpec().getContainers())
        .singleElement()
        .satisfies(container -> {
          assertThat(container.getName()).isEqualTo("agent");
          assertThat(container.getImage()).isNull();
          assertThat(container.getEnv()).isEmpty();
        });
  }
}
