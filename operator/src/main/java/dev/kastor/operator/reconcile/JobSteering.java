package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.gang.GangSteering;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Refusal;
import dev.kastor.operator.lifecycle.JobLife;
import dev.kastor.operator.lifecycle.Refusals;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.GangPod;
import dev.kastor.operator.pods.InvalidTemplate;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.status.JobReason;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Steps that bring the pods of a job in line with its allocation, replicas and gangs alike. */
@Singleton
final class JobSteering {
  /** When a job that could not start, or that may have slots again, is looked at. */
  static final Duration SOON = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(JobSteering.class);

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final MemberSteering members;
  private final GangSteering gangs;
  private final FailureNotices notices;
  private final JobReport report;
  private final JobLife life;
  private final Refusals refusals;
  private final EventRecorder events;
  private final Metrics metrics;

  JobSteering(
      ClusterCache cache,
      AllocationWriter allocations,
      MemberSteering members,
      GangSteering gangs,
      FailureNotices notices,
      JobReport report,
      JobLife life,
      Refusals refusals,
      EventRecorder events,
      Metrics metrics) {
    this.cache = cache;
    this.allocations = allocations;
    this.members = members;
    this.gangs = gangs;
    this.notices = notices;
    this.report = report;
    this.life = life;
    this.refusals = refusals;
    this.events = events;
    this.metrics = metrics;
  }

  /**
   * One step; says when the next is due unless something happens before.
   *
   * @param own pods of its parameter servers
   * @throws InvalidTemplate if no pods can be made of the job's template
   */
  Duration steer(
      TrainingJob job,
      List<PodView> views,
      List<ServerPod> own,
      List<GangPod> gang,
      Failures failures,
      FaultToleranceSpec tolerance)
      throws InvalidTemplate {
    refusals.look(job);
    try {
      return job.getSpec().gang()
          ? steerGang(job, gang, failures, tolerance)
          : members.steer(job, views, own, failures, tolerance);
    } catch (Refusal e) {
      refusals.settle(job, e, JobServers.count(job) > own.size());
      return SOON;
    } catch (KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      startFailed(job, views, failures, e);
      return SOON;
    }
  }

  private Duration steerGang(
      TrainingJob job, List<GangPod> gang, Failures failures, FaultToleranceSpec tolerance)
      throws InvalidTemplate {
    notices.tell(job, failures);
    return gangs.steer(
        job,
        gang,
        failures,
        tolerance,
        allocations.target(cache.newest(job).orElse(job), !gang.isEmpty()));
  }

  /**
   * Treats what nobody thought of as a start that failed, so that deadlines and backoff apply and
   * the slots are not held for nothing. A job that has pods keeps them.
   */
  private void startFailed(
      TrainingJob job, List<PodView> views, Failures failures, RuntimeException e) {
    if (!views.isEmpty()) {
      report.write(job, failures);
      throw e;
    }
    metrics.reconcileFailed(false);
    LOG.error("{}: no pods could be made for it", Labels.id(job), e);
    String message =
        "No pods could be made: %s. The operator's log has the details.".formatted(e.getMessage());
    events.warning(job, JobReason.StartFailed.name(), message);
    life.giveUp(job, JobReason.StartFailed, message);
  }
}
