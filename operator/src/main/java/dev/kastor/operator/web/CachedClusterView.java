package dev.kastor.operator.web;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * What the operator's cache has. Tells the history which jobs came and went, and what was allocated
 * before this process began.
 */
@Singleton
final class CachedClusterView implements ClusterView {
  private final ClusterCache cache;
  private final JobPods pods;
  private final TelemetryStore telemetry;
  private final JobHistory history;

  CachedClusterView(
      ClusterCache cache, JobPods pods, TelemetryStore telemetry, JobHistory history) {
    this.cache = cache;
    this.pods = pods;
    this.telemetry = telemetry;
    this.history = history;
  }

  void start(@Observes StartupEvent event) {
    cache.onJobs(new Historian(history, InstantSource.system()));
  }

  @Override
  public List<TrainingJob> jobs() {
    return cache.allJobs();
  }

  @Override
  public Optional<ServersView> servers(TrainingJob job) {
    return JobServers.count(job) == 0
        ? Optional.empty()
        : Optional.of(ServersView.of(pods.servers(job), telemetry.updates(job)));
  }

  @Override
  public List<Queue> queues() {
    return cache.queues();
  }

  @Override
  public List<Node> nodes() {
    return cache.nodes();
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
      history.resume(
          id(job),
          JobMapper.allocation(allocation),
          Reason.of(allocation.reason(), allocation.message()),
          StoredTime.of(allocation.since()).orElseGet(clock::instant));
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
