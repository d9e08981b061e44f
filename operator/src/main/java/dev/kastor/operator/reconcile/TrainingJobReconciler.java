package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.status.JobStatusWriter;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.inbound.SimpleInboundEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Controller of TrainingJobs: it brings the pods and the status of each in line with its spec and
 * allocation, whatever happened before, for each pass looks at all there is.
 */
@Singleton
@ControllerConfiguration(name = "trainingjob")
// For ever: a job that was looked at five times during an outage must not be forgotten after it.
@GradualRetry(
    maxAttempts = -1,
    initialInterval = 1000,
    intervalMultiplier = 1.5,
    maxInterval = 15000)
public final class TrainingJobReconciler implements Reconciler<TrainingJob> {
  private static final Logger LOG = LoggerFactory.getLogger(TrainingJobReconciler.class);

  private static final int STEP_BACK_MILLIS = 4000;

  private final ClusterCache cache;
  private final JobPods pods;
  private final JobStatusWriter statuses;
  private final UnfinishedJobs unfinished;
  private final EndedJobs ended;
  private final Newcomers newcomers;
  private final Mandate mandate;
  private final Signals signals;
  private final Metrics metrics;

  TrainingJobReconciler(
      ClusterCache cache,
      JobPods pods,
      JobStatusWriter statuses,
      UnfinishedJobs unfinished,
      EndedJobs ended,
      Newcomers newcomers,
      Mandate mandate,
      Signals signals,
      Metrics metrics) {
    this.cache = cache;
    this.pods = pods;
    this.statuses = statuses;
    this.unfinished = unfinished;
    this.ended = ended;
    this.newcomers = newcomers;
    this.mandate = mandate;
    this.signals = signals;
    this.metrics = metrics;
  }

  @Override
  public List<EventSource<?, TrainingJob>> prepareEventSources(
      EventSourceContext<TrainingJob> context) {
    var source = new SimpleInboundEventSource<TrainingJob>("signals");
    signals.onJob(id -> source.propagateEvent(new ResourceID(id.name(), id.namespace())));
    return List.of(source);
  }

  @Override
  public UpdateControl<TrainingJob> reconcile(TrainingJob primary, Context<TrainingJob> context) {
    if (!mandate.mayWrite()) {
      // Every write would be refused, and thousands of refusals would hold up the lease's renewal.
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(stepBack(primary));
    }
    try {
      return reconcile(primary);
    } catch (KubernetesClientException e) {
      // The controller gives up after a few times; an API server may be away for longer.
      metrics.reconcileFailed(true);
      Duration again = stepBack(primary);
      LOG.warn(
          "{}: the API server refused or did not answer, looked at again in {} ms: {}",
          Labels.id(primary),
          again.toMillis(),
          e.getMessage());
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(again);
    } finally {
      newcomers.met(primary);
    }
  }

  private UpdateControl<TrainingJob> reconcile(TrainingJob primary) {
    // Pods before the job: whoever stopped because of a change must not be seen without the change.
    List<PodView> views = pods.of(primary);
    TrainingJob job = cache.newest(primary).orElse(primary);
    if (!cache.ours(job) || job.getMetadata().getDeletionTimestamp() != null) {
      return UpdateControl.noUpdate();
    }
    pods.endRest(job);
    Phase phase = statuses.phase(job);
    if (phase == Phase.Succeeded || phase == Phase.Failed) {
      return ended
          .clear(job, left(job, views), phase)
          .map(next -> UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(next))
          .orElseGet(UpdateControl::noUpdate);
    }
    if (phase != null && views.isEmpty() && newcomers.many()) {
      return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(stepBack(job));
    }
    return UpdateControl.<TrainingJob>noUpdate().rescheduleAfter(unfinished.step(job, views));
  }

  /** All pods of a job that has ended. */
  private List<PodView> left(TrainingJob job, List<PodView> replicas) {
    List<PodView> servers = ServerPod.views(pods.servers(job));
    return servers.isEmpty()
        ? replicas
        : Stream.concat(replicas.stream(), servers.stream()).toList();
  }

  /** Some seconds, and not the same for all. */
  private static Duration stepBack(TrainingJob job) {
    return Duration.ofMillis(
        1000 + Math.floorMod(job.getMetadata().getUid().hashCode(), STEP_BACK_MILLIS));
  }

  /** Counts what the controller logs and tries again. */
  @Override
  public ErrorStatusUpdateControl<TrainingJob> updateErrorStatus(
      TrainingJob job, Context<TrainingJob> context, Exception e) {
    metrics.reconcileFailed(e instanceof KubernetesClientException);
    return ErrorStatusUpdateControl.defaultErrorProcessing();
  }
}
