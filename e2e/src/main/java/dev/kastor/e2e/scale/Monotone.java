package dev.kastor.e2e.scale;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Watches what may only grow: a job's generation, the version of its allocation, the number of its
 * next pod, its progress; and an end that is an end. Thread-safe.
 */
final class Monotone implements AutoCloseable {
  private final List<String> violations = new ArrayList<>();
  private final SharedIndexInformer<TrainingJob> informer;

  Monotone(KubernetesClient client) {
    informer =
        client
            .resources(TrainingJob.class)
            .inAnyNamespace()
            .inform(
                new ResourceEventHandler<>() {
                  @Override
                  public void onAdd(TrainingJob job) {}

                  @Override
                  public void onUpdate(TrainingJob before, TrainingJob after) {
                    if (before.getStatus() != null
                        && before.getMetadata().getUid().equals(after.getMetadata().getUid())) {
                      look(after.getMetadata().getName(), before.getStatus(), after.getStatus());
                    }
                  }

                  @Override
                  public void onDelete(TrainingJob job, boolean unknown) {}
                });
  }

  /** What went backwards, as sentences. */
  synchronized List<String> violations() {
    return List.copyOf(violations);
  }

  private synchronized void look(
      String job, TrainingJobStatus before, @Nullable TrainingJobStatus after) {
    if (after == null) {
      violations.add(job + " has no status any more");
      return;
    }
    grows(job, "generation", before.generation(), after.generation());
    grows(job, "next pod", before.nextPod(), after.nextPod());
    grows(
        job,
        "allocation",
        before.allocation() == null ? null : before.allocation().version(),
        after.allocation() == null ? null : after.allocation().version());
    grows(
        job,
        "progress",
        before.training() == null ? null : before.training().step(),
        after.training() == null ? null : after.training().step());
    if (before.completionTime() != null
        && !Objects.equals(before.completionTime(), after.completionTime())) {
      violations.add(job + " ended twice");
    }
  }

  private void grows(String job, String what, @Nullable Long before, @Nullable Long after) {
    if (before != null && (after == null || after < before)) {
      violations.add("%s: %s went from %s to %s".formatted(job, what, before, after));
    }
  }

  @Override
  public void close() {
    informer.stop();
  }
}
