package dev.kastor.operator.lifecycle;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StatusWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Suspension of a job that carries Kueue's queue label, once, before it gets anything.
 *
 * <p>Where Kueue has a webhook of its own for a kind, that does the same; we have none, so the
 * status remembers that it was done. From then on {@code spec.suspend} belongs to whoever admits
 * the job.
 */
@Singleton
public final class KueueHold {
  /** Kueue's label with the name of a LocalQueue. */
  public static final String QUEUE = "kueue.x-k8s.io/queue-name";

  private static final Logger LOG = LoggerFactory.getLogger(KueueHold.class);

  private final KubernetesClient client;
  private final StatusWriter writer;

  public KueueHold(KubernetesClient client, StatusWriter writer) {
    this.client = client;
    this.writer = writer;
  }

  /** The name of the job's LocalQueue, if it has one. */
  public static Optional<String> queue(TrainingJob job) {
    Map<String, String> labels = job.getMetadata().getLabels();
    return labels == null ? Optional.empty() : Optional.ofNullable(labels.get(QUEUE));
  }

  /** Whether the job is Kueue's but was not suspended yet, so that nobody may admit it. */
  public static boolean due(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    boolean held = status != null && Boolean.TRUE.equals(status.heldForKueue());
    boolean ran = status != null && status.nextPod() != null;
    return queue(job).isPresent() && !held && !ran;
  }

  /** Suspends the job; its uid keeps another of the same name from being meant. */
  public void hold(TrainingJob job) {
    var meta = job.getMetadata();
    LOG.info("{}: is suspended until Kueue admits it", Labels.id(job));
    client
        .resources(TrainingJob.class)
        .inNamespace(meta.getNamespace())
        .withName(meta.getName())
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"metadata": {"uid": "%s"}, "spec": {"suspend": true}}
            """
                .formatted(meta.getUid()));
    // Not before: a job that says so without having been suspended would run.
    writer.patch(job, Map.of("heldForKueue", true));
  }
}
