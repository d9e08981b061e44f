package dev.kastor.operator.web;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What the page shows of the cluster, without a request to the API server. */
public interface ClusterView {
  /** Every TrainingJob. */
  List<TrainingJob> jobs();

  /** One job; empty if there is no such job. */
  default Optional<TrainingJob> job(JobId id) {
    return jobs().stream().filter(job -> Labels.id(job).equals(id)).findFirst();
  }

  /** When a job that trains will be done; empty where that is not known. */
  default Optional<Instant> expectedEnd(JobId id) {
    return job(id)
        .map(TrainingJob::getStatus)
        .flatMap(status -> StoredTime.of(status.expectedEnd()));
  }

  /** Parameter servers of a job; empty where its replicas have the parameters. */
  default Optional<ServersView> servers(TrainingJob job) {
    return Optional.empty();
  }

  /** Every Queue. */
  List<Queue> queues();

  /** Every node. */
  List<Node> nodes();
}
