package dev.kastor.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class PodWaitTest {
  private static Pod pod(ContainerState state) {
    return new PodBuilder()
        .withNewStatus()
        .addNewContainerStatus()
        .withState(state)
        .endContainerStatus()
        .endStatus()
        .build();
  }

  private static Pod waiting(String reason, @Nullable String message) {
    return pod(
        new ContainerStateBuilder()
            .withNewWaiting()
            .withReason(reason)
            .withMessage(message)
            .endWaiting()
            .build());
  }

  @Test
  void saysWhatTheKubeletSays() {
    assertThat(PodWait.of(waiting("ErrImagePull", "401 Unauthorized")))
        .hasValue("ErrImagePull: 401 Unauthorized");
    assertThat(PodWait.of(waiting("ImagePullBackOff", null))).hasValue("ImagePullBackOff");
  }

  @Test
  void isSilentWhileAllIsAsUsual() {
    assertThat(PodWait.of(waiting("ContainerCreating", null))).isEmpty();
    assertThat(PodWait.of(new Pod())).isEmpty();
    assertThat(PodWait.of(pod(new ContainerStateBuilder().withNewRunning().endRunning().build())))
        .isEmpty();
  }
}
