package dev.kastor.crds.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ContainerWaitTest {
  private static Pod pod(ContainerState state) {
    return new PodBuilder()
        .withNewStatus()
        .addNewContainerStatus()
        .withName("main")
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
    assertThat(ContainerWait.of(waiting("ErrImagePull", "401 Unauthorized")))
        .hasValue(new ContainerWait("main", "ErrImagePull: 401 Unauthorized"));
    assertThat(ContainerWait.of(waiting("ImagePullBackOff", null)))
        .hasValue(new ContainerWait("main", "ImagePullBackOff"));
  }

  @Test
  void initContainersComeFirst() {
    Pod pod =
        waiting("ImagePullBackOff", null)
            .edit()
            .editStatus()
            .addNewInitContainerStatus()
            .withName("data")
            .withNewState()
            .withNewWaiting()
            .withReason("CrashLoopBackOff")
            .endWaiting()
            .endState()
            .endInitContainerStatus()
            .endStatus()
            .build();
    assertThat(ContainerWait.of(pod)).hasValue(new ContainerWait("data", "CrashLoopBackOff"));
  }

  @Test
  void isSilentWhileAllIsAsUsual() {
    assertThat(ContainerWait.of(waiting("ContainerCreating", null))).isEmpty();
    assertThat(ContainerWait.of(new Pod())).isEmpty();
    assertThat(
            ContainerWait.of(
                pod(new ContainerStateBuilder().withNewRunning().endRunning().build())))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          InvalidImageName           | Failed to apply default image tag "A:b:c"                | true
          ErrImageNeverPull          | Container image "trainer:1" is not present with pull policy of Never | true
          CreateContainerConfigError | secret "data" not found                                  | true
          ErrImagePull               | reading manifest: manifest unknown                       | true
          ImagePullBackOff           | Back-off pulling image "trainer:9": ErrImagePull: trainer:9: not found | true
          ImagePullBackOff           | Back-off pulling image "trainer:1"                       | false
          ErrImagePull               | dial tcp: i/o timeout                                    | false
          ErrImagePull               | 429 Too Many Requests                                    | false
          CrashLoopBackOff           | back-off 10s restarting                                  | false
          """)
  void onlyWhatSomebodyHasToMendLasts(String reason, String message, boolean lasts) {
    assertThat(ContainerWait.of(waiting(reason, message)).orElseThrow().lasting()).isEqualTo(lasts);
  }
}
