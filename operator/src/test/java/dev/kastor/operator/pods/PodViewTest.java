package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pods beside whose container a webhook put another, as a service mesh does. */
final class PodViewTest {
  private static final String COMPLETED =
      "{\"kind\": \"COMPLETED\", \"lostOrRepeatedExamples\": 0, \"message\": \"done\"}";
  private static final String FAILED_PERMANENTLY =
      "{\"kind\": \"FAILED_PERMANENTLY\", \"lostOrRepeatedExamples\": 0, \"message\": \"bad\"}";

  private static PodView view(String phase, ContainerStatus... statuses) {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("bert-0")
            .addToAnnotations(Labels.CONTAINERS, "agent")
            .addToAnnotations(Labels.NODE, "n1")
            .endMetadata()
            .withNewSpec()
            .endSpec()
            .withNewStatus()
            .withPhase(phase)
            .withContainerStatuses(List.of(statuses))
            .endStatus()
            .build();
    return PodView.of(pod);
  }

  private static ContainerStatus ended(String name, int exitCode, String message) {
    return new ContainerStatusBuilder()
        .withName(name)
        .withNewState()
        .withNewTerminated()
        .withExitCode(exitCode)
        .withMessage(message)
        .withFinishedAt("2026-01-01T00:00:00Z")
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

  @Test
  void aReplicaThatHasDoneItsWorkHasEndedWhateverRunsBesideIt() {
    PodView view = view("Running", running("proxy"), ended("agent", 0, COMPLETED));
    assertThat(view.ended()).isTrue();
    assertThat(view.live()).isFalse();
    assertThat(view.completed()).isTrue();
    assertThat(view.failed()).isFalse();
  }

  @Test
  void aProxyThatIsKilledDoesNotMakeItFail() {
    PodView view = view("Failed", ended("agent", 0, COMPLETED), ended("proxy", 143, ""));
    assertThat(view.completed()).isTrue();
    assertThat(view.failed()).isFalse();
    assertThat(view.exitCode()).isZero();
  }

  @Test
  void itsOwnWordsAreReadAndNotThoseOfTheFirstContainer() {
    PodView completed = view("Succeeded", ended("a-proxy", 0, ""), ended("agent", 0, COMPLETED));
    assertThat(completed.completed()).isTrue();
    assertThat(completed.failed()).isFalse();
    PodView failed =
        view("Failed", ended("a-proxy", 0, ""), ended("agent", 64, FAILED_PERMANENTLY));
    assertThat(failed.failedPermanently()).isTrue();
    assertThat(failed.exitCode()).isEqualTo(64);
    assertThat(failed.failureMessage()).isEqualTo("bad");
  }

  @Test
  void aPodThatWasTakenAwayHasEndedByItsPhase() {
    PodView view = view("Failed", running("agent"));
    assertThat(view.ended()).isTrue();
    assertThat(view.failed()).isTrue();
  }
}
