package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.metrics.FailureKind;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.PodView;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notices of replicas that failed, one for each. */
@Singleton
final class FailureNotices {
  private static final Logger LOG = LoggerFactory.getLogger(FailureNotices.class);

  private final EventRecorder events;
  private final Metrics metrics;
  private final Map<String, Set<String>> failuresSeen;

  FailureNotices(JobRecords records, EventRecorder events, Metrics metrics) {
    failuresSeen = records.part();
    this.events = events;
    this.metrics = metrics;
  }

  /** Tells of each failed pod that was not told of yet, also where the job made progress since. */
  void tell(TrainingJob job, Failures failures) {
    List<PodView> failed = new ArrayList<>(failures.forgiven());
    failed.addAll(failures.counted());
    for (PodView pod : failed) {
      Set<String> seen =
          failuresSeen.computeIfAbsent(
              job.getMetadata().getUid(), uid -> ConcurrentHashMap.newKeySet());
      if (seen.add(pod.name())) {
        FailureKind kind =
            FailureKind.of(
                pod.failedPermanently(), pod.state() == PodView.State.SUCCEEDED, pod.exitCode());
        String message =
            "%s failed (%s): %s".formatted(pod.name(), kind.label(), pod.failureMessage());
        events.warning(job, "ReplicaFailed", message);
        LOG.warn("{}: {}", Labels.id(job), message);
        metrics.jobs().failed(job.getMetadata().getNamespace(), job.getMetadata().getName(), kind);
      }
    }
  }
}
