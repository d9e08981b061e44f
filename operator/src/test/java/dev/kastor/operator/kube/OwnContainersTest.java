package dev.kastor.operator.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class OwnContainersTest {
  private static Pod pod(@Nullable String own, ContainerStatus... statuses) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("bert-0")
        .withAnnotations(own == null ? Map.of() : Map.of(Labels.CONTAINERS, own))
        .endMetadata()
        .withNewStatus()
        .withPhase("Running")
        .withContainerStatuses(List.of(statuses))
        .endStatus()
        .build();
  }

  private static ContainerStatus ended(String name, int exitCode) {
    return new ContainerStatusBuilder()
        .withName(name)
        .withNewState()
        .withNewTerminated()
        .withExitCode(exitCode)
        .withMessage(name)
        .endTerminated()
        .endState()
        .build();
  }

  private static ContainerStatus running(String name) {
    return new ContainerStatusBuilder()
        .withName(name)
        .withNewState()
        .withNewRunning("2026-01-01T00:00:00Z")
        .endState()
        .build();
  }

  private static String says(Pod pod) {
    return OwnContainers.of(pod).end().map(ContainerStateTerminated::getMessage).orElse("nothing");
  }

  @Test
  void aMarkNamesTheContainersThatThePodHasBeforeAnybodyAddsSome() {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withAnnotations(new java.util.TreeMap<>())
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("agent")
            .endContainer()
            .addNewContainer()
            .withName("data")
            .endContainer()
            .endSpec()
            .build();
    OwnContainers.mark(pod);
    assertThat(pod.getMetadata().getAnnotations())
        .containsEntry("kastor.dev/containers", "agent,data");
  }

  @Test
  void aProxyThatRunsOnOutlivesAPodThatHasEnded() {
    Pod pod = pod("agent", running("a-proxy"), ended("agent", 0));
    assertThat(OwnContainers.of(pod).ended()).isTrue();
    assertThat(OwnContainers.of(pod).outlived()).isTrue();
    assertThat(says(pod)).isEqualTo("agent");
  }

  @Test
  void howAProxyEndsSaysNothingOfTheReplica() {
    assertThat(says(pod("agent", ended("a-proxy", 143), ended("agent", 0)))).isEqualTo("agent");
    assertThat(says(pod("agent", ended("a-proxy", 143), running("agent")))).isEqualTo("nothing");
    assertThat(OwnContainers.of(pod("agent", ended("a-proxy", 0), running("agent"))).ended())
        .isFalse();
  }

  @Test
  void aReplicaIsNotBegunBeforeOneOfItsOwnIs() {
    assertThat(OwnContainers.of(pod("agent", running("a-proxy"), waiting("agent"))).begun())
        .isFalse();
    assertThat(OwnContainers.of(pod("agent", running("a-proxy"), running("agent"))).begun())
        .isTrue();
  }

  @Test
  void ofSeveralTheFirstFailureCounts() {
    assertThat(says(pod("one,two", ended("one", 0), ended("two", 3)))).isEqualTo("two");
    assertThat(OwnContainers.of(pod("one,two", ended("one", 0), running("two"))).ended()).isFalse();
    assertThat(OwnContainers.of(pod("one,two", ended("one", 0))).ended()).isFalse();
  }

  @Test
  void allContainersOfAPodWithoutAMarkAreItsOwn() {
    assertThat(OwnContainers.of(pod(null, ended("agent", 0))).ended()).isTrue();
    assertThat(OwnContainers.of(pod(null, ended("agent", 0), running("other"))).ended()).isFalse();
    assertThat(OwnContainers.of(pod(null, ended("agent", 0))).outlived()).isFalse();
    assertThat(OwnContainers.of(pod(null)).ended()).isFalse();
  }

  private static ContainerStatus waiting(String name) {
    return new ContainerStatusBuilder()
        .withName(name)
        .withNewState()
        .withNewWaiting("", "ContainerCreating")
        .endState()
        .build();
  }
}
