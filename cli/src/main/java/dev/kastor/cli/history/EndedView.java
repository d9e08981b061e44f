package dev.kastor.cli.history;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.view.FailureReason;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job that ended, as {@code history} lists it.
 *
 * @param phase {@code Succeeded} or {@code Failed}
 * @param ended when, ISO 8601
 * @param seconds from its creation to its end
 * @param fewestReplicas with which it trained; absent if it never did
 * @param smallestBatch global batch in examples
 * @param rescales live changes of size or batch
 * @param restarts times it came back from a checkpoint
 * @param metric held-out metric at the end
 * @param failure why it failed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record EndedView(
    String namespace,
    String name,
    String phase,
    @Nullable String ended,
    @Nullable Double seconds,
    @Nullable Integer fewestReplicas,
    @Nullable Integer mostReplicas,
    @Nullable Integer smallestBatch,
    @Nullable Integer largestBatch,
    @Nullable Integer rescales,
    @Nullable Integer restarts,
    @Nullable String metricName,
    @Nullable Double metric,
    @Nullable String failure) {
  static final String[] HEADER = {
    "NAME", "PHASE", "AGO", "TOOK", "REPLICAS", "BATCH", "RESCALES", "RESTARTS", "RESULT"
  };

  static EndedView of(TrainingJob job) {
    JobView view = JobView.of(job);
    var training = job.getStatus().training();
    if (training != null && training.maxReplicas() == 0) {
      training = null; // It reported, but never trained.
    }
    return new EndedView(
        view.namespace(),
        view.name(),
        view.phase(),
        view.completed(),
        view.jctSeconds(),
        training == null ? null : training.minReplicas(),
        training == null ? null : training.maxReplicas(),
        training == null ? null : training.minGlobalBatch(),
        training == null ? null : training.maxGlobalBatch(),
        view.rescales(),
        view.restarts(),
        view.metricName(),
        view.finalMetric(),
        FailureReason.of(job).orElse(null));
  }

  List<String> cells(Instant now) {
    return List.of(
        name,
        JobView.coloured(phase),
        Format.between(Format.instant(ended), Optional.of(now)),
        seconds == null
            ? "-"
            : Format.duration(java.time.Duration.ofMillis(Math.round(seconds * 1000))),
        range(fewestReplicas, mostReplicas),
        range(smallestBatch, largestBatch),
        rescales == null ? "-" : rescales.toString(),
        restarts == null ? "-" : restarts.toString(),
        failure != null
            ? failure
            : metric == null ? "-" : metricName + " " + Format.number(metric));
  }

  private static String range(@Nullable Integer least, @Nullable Integer most) {
    if (least == null || most == null) {
      return "-";
    }
    return least.equals(most) ? least.toString() : least + "-" + most;
  }
}
