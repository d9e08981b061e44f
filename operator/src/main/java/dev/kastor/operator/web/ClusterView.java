package dev.kastor.operator.web;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Node;
import java.util.List;

/** What the page shows of the cluster, without a request to the API server. */
public interface ClusterView {
  /** Every TrainingJob. */
  List<TrainingJob> jobs();

  /** Whether there is such a job. */
  default boolean has(JobId id) {
    return jobs().stream()
        .map(TrainingJob::getMetadata)
        .anyMatch(
            job -> job.getName().equals(id.name()) && job.getNamespace().equals(id.namespace()));
  }

  /** Every Queue. */
  List<Queue> queues();

  /** Every node. */
  List<Node> nodes();
}
