package dev.kastor.operator.hang;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.hang.HangRule.Hang;
import dev.kastor.operator.hang.HangRule.Seen;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.pods.JobPods;
import dev.kastor.protocol.Slowest;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replacement of replicas that hang or slow their job down, and the messages about it. */
@Singleton
final class HangRemedy {
  private static final Logger LOG = LoggerFactory.getLogger(HangRemedy.class);
  private static final int MOST_NAMED = 8;

  private final JobPods pods;
  private final EventRecorder events;
  private final Metrics metrics;

  HangRemedy(JobPods pods, EventRecorder events, Metrics metrics) {
    this.pods = pods;
    this.events = events;
    this.metrics = metrics;
  }

  /** The message about a hang for the job's owner. */
  static String message(List<Seen> seen, Hang hang) {
    String states =
        seen.stream()
            .map(each ->
                "%s %s at step %d"
                    .formatted(
                        each.pod(), each.waiting() ? "waits" : each.doing().verb(), each.step()))
            .sorted()
            .limit(MOST_NAMED)
            .collect(Collectors.joining(", "));
    return "No step for %d s: %s. %s"
        .formatted(
            hang.silence().toSeconds(),
            states,
            hang.again()
                ? "All replicas are replaced and start from the newest checkpoint."
                : hang.suspects().getFirst() + " is replaced.");
  }

  /** Replaces the suspects of a hang. */
  void replace(TrainingJob job, Hang hang, String message) {
    LOG.warn("{}: {}", Labels.id(job), message);
    events.warning(job, "NoProgress", message);
    metrics.jobs().hung(job.getMetadata().getNamespace(), job.getMetadata().getName());
    hang.suspects().forEach(pod -> pods.deleteHanging(job, pod));
  }

  /**
   * Tells of a replica that slows the others down, and replaces it if that is asked for.
   *
   * @param duration how long it has done so at least
   * @param replace whether it is replaced
   */
  void tell(TrainingJob job, Slowest slow, Duration duration, boolean replace) {
    String message =
        "%s computes %.1f times as long as the others (%.3f s a pass), for %d s or more.%s"
            .formatted(
                slow.pod(),
                slow.slowdown(),
                slow.passSeconds(),
                duration.toSeconds(),
                replace ? " It is replaced." : "");
    LOG.warn("{}: {}", Labels.id(job), message);
    events.warning(job, "ReplicaSlow", message);
    metrics.jobs().slow(job.getMetadata().getNamespace(), job.getMetadata().getName());
    if (replace) {
      pods.delete(job, slow.pod());
    }
  }
}
