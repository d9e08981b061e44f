package dev.kastor.operator.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queues that jobs ask for, are in, and the priorities that count there. */
@Tag("never-retried")
final class QueueDirectoryTest {
  private static final QueueDirectory DIRECTORY =
      QueueDirectory.of(
          List.of(
              queue("red", "{maxPriority: 5, namespaces: [team]}"),
              queue("open", "{}"),
              queue("foreign", "{namespaces: [other]}")),
          Map.of("night", new dev.kastor.scheduler.model.Queue("night", 2)),
          100);

  private static Queue queue(String name, String spec) {
    return Serialization.unmarshal(
        "apiVersion: kastor.dev/v1alpha1\nkind: Queue\nmetadata: {name: %s}\nspec: %s"
            .formatted(name, spec),
        Queue.class);
  }

  private static TrainingJob job(String spec) {
    return Serialization.unmarshal(
        "apiVersion: kastor.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: bert, namespace: team}\nspec: %s"
            .formatted(spec),
        TrainingJob.class);
  }

  private static AllocationStatus given(int replicas, @Nullable String queue) {
    return new AllocationStatus(
        replicas,
        Map.of("n1", replicas),
        null,
        1,
        "2026-01-01T00:00:00Z",
        "Started",
        ".",
        queue,
        null);
  }

  @Test
  void aRunningJobStaysInTheQueueThatGaveItsGpusUntilAnotherTakesIt() {
    assertThat(DIRECTORY.of(job("{queue: nowhere}"), given(2, "red"))).isEqualTo("red");
    assertThat(DIRECTORY.of(job("{queue: foreign}"), given(2, "red"))).isEqualTo("red");
    assertThat(DIRECTORY.of(job("{queue: foreign}"), given(2, null))).isEmpty();
    assertThat(DIRECTORY.of(job("{queue: night}"), given(2, "red"))).isEqualTo("night");
    assertThat(DIRECTORY.of(job("{queue: nowhere}"), given(0, "red"))).isEqualTo("nowhere");
    assertThat(DIRECTORY.of(job("{queue: nowhere}"), null)).isEqualTo("nowhere");
  }

  @Test
  void aPriorityCountsUpToThatOfItsQueue() {
    TrainingJob proud = job("{queue: red, priority: 1000}");
    assertThat(DIRECTORY.priority(proud, "red")).isEqualTo(5);
    assertThat(DIRECTORY.priorityLimit(proud).orElseThrow())
        .isEqualTo(
            Reason.of(
                "AboveMaxPriority",
                "spec.priority is 1000 and counts as 5, the highest of jobs of queue red. Lower it, or ask the platform team for a queue with a higher maxPriority."));
    TrainingJob modest = job("{queue: red, priority: -7}");
    assertThat(DIRECTORY.priority(modest, "red")).isEqualTo(-7);
    assertThat(DIRECTORY.priorityLimit(modest)).isEmpty();
  }

  @Test
  void aQueueThatSaysNoneAndNoQueueHaveTheOperatorsBound() {
    assertThat(DIRECTORY.priority(job("{queue: open, priority: 1000}"), "open")).isEqualTo(100);
    assertThat(DIRECTORY.priority(job("{priority: 1000}"), "")).isEqualTo(100);
    assertThat(DIRECTORY.priorityLimit(job("{priority: 1000}")).orElseThrow().message())
        .startsWith("spec.priority is 1000 and counts as 100, the highest of jobs of no queue.");
  }
}
