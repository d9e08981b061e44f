package dev.kastor.operator.web;

import dev.kastor.crds.Queue;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.TreeMap;

/**
 * Keeps TrainingJobs and nodes by watching them, and tells the history which jobs vanished and what
 * was allocated before this process began.
 */
@Singleton
final class InformedClusterView implements ClusterView {
  private final SharedIndexInformer<TrainingJob> jobs;
  private final SharedIndexInformer<Node> nodes;
  private final SharedIndexInformer<Queue> queues;

  InformedClusterView(KubernetesClient client, JobHistory history) {
    // An API server that is not there yet, or a CRD that is not, is asked again until it is.
    jobs =
        client
            .resources(TrainingJob.class)
            .inAnyNamespace()
            .runnableInformer(0)
            .exceptionHandler((started, problem) -> true)
            .addEventHandler(new Historian(history, InstantSource.system()));
    nodes = client.nodes().runnableInformer(0).exceptionHandler((started, problem) -> true);
    queues =
        client
            .resources(Queue.class)
            .runnableInformer(0)
            .exceptionHandler((started, problem) -> true);
  }

  void start(@Observes StartupEvent event) {
    var unused = jobs.start();
    unused = nodes.start();
    unused = queues.start();
  }

  void stop(@Observes ShutdownEvent event) {
    jobs.stop();
    nodes.stop();
    queues.stop();
  }

  @Override
  public List<TrainingJob> jobs() {
    return jobs.getStore().list();
  }

  @Override
  public List<Queue> queues() {
    return queues.getStore().list();
  }

  @Override
  public List<Node> nodes() {
    return nodes.getStore().list();
  }

  /** Reports arrivals and departures to the history. */
  private record Historian(JobHistory history, InstantSource clock)
      implements ResourceEventHandler<TrainingJob> {
    @Override
    public void onAdd(TrainingJob job) {
      history.created(id(job), clock.instant());
      TrainingJobStatus status = job.getStatus();
      if (status == null || status.allocation() == null || status.completionTime() != null) {
        return;
      }
      TrainingJobStatus.AllocationStatus allocation = status.allocation();
      var replicasByNode = new TreeMap<>(allocation.nodes());
      replicasByNode.values().removeIf(replicas -> replicas < 1);
      history.resume(
          id(job),
          new Allocation(replicasByNode),
          Reason.of(allocation.reason(), allocation.message()),
          Instant.parse(allocation.since()));
    }

    @Override
    public void onUpdate(TrainingJob before, TrainingJob after) {}

    @Override
    public void onDelete(TrainingJob job, boolean finalStateUnknown) {
      history.deleted(id(job), clock.instant());
    }

    private static JobId id(TrainingJob job) {
      return new JobId(job.getMetadata().getNamespace(), job.getMetadata().getName());
    }
  }
}
