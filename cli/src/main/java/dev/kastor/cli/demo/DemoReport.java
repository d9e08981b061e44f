package dev.kastor.cli.demo;

import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.cli.terminal.Table;
import dev.kastor.cli.view.FailureReason;
import dev.kastor.cli.view.JobView;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the demonstration showed, for people and as JSON. */
final class DemoReport {
  private static final String PACED =
      "Slots were paced: a pass lasts as long as on an accelerator of given figures, and what the"
          + " computation leaves of that is slept; training, exchange, starts and pauses are real.";

  private final int slots;
  private final boolean paced;
  private final String policy;
  private final DemoRun.Result elastic;
  private final DemoRun.@Nullable Result fixed;

  DemoReport(
      int slots,
      boolean paced,
      String policy,
      DemoRun.Result elastic,
      DemoRun.@Nullable Result fixed) {
    this.slots = slots;
    this.paced = paced;
    this.policy = policy;
    this.elastic = elastic;
    this.fixed = fixed;
  }

  boolean good() {
    return elastic.good() && (fixed == null || fixed.good());
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("");
    Table table =
        new Table(
            "JOB", "PHASE", "TOOK", "STATIC", "METRIC", "STATIC", "RESCALES", "PAUSE", "LOST");
    for (TrainingJob job : elastic.jobs()) {
      table.row(row(JobView.of(job), training(job)));
    }
    lines.addAll(table.lines());
    lines.add("");
    for (JobView view : elastic.views()) {
      SizeTrack track = elastic.tracks().get(view.name());
      if (track != null) {
        lines.add(
            "%s: replicas %s; batch %s"
                .formatted(
                    view.name(),
                    SizeTrack.path(track.replicas()),
                    SizeTrack.path(track.batches())));
      }
    }
    elastic
        .jobs()
        .forEach(job ->
            FailureReason.of(job)
                .ifPresent(why ->
                    lines.add(
                        Ink.RED.on(
                            "%s failed: %s (logs stay with --keep)"
                                .formatted(job.getMetadata().getName(), why)))));
    average(elastic)
        .ifPresent(mean ->
            lines.add(
                "mean completion %s under %s%s"
                    .formatted(Format.seconds(mean), policy, comparison(mean))));
    if (paced) {
      lines.add(PACED);
    }
    if (!elastic.ended()) {
      lines.add(Ink.RED.on("not all jobs ended in time"));
    }
    return lines;
  }

  private String comparison(double mean) {
    return fixed == null
        ? ""
        : average(fixed)
            .map(other ->
                ", %s with one replica each and a fixed batch (%s)"
                    .formatted(
                        Format.seconds(other),
                        String.format(Locale.ROOT, "%.2f times as long", other / mean)))
            .orElse("");
  }

  private List<String> row(JobView view, @Nullable TrainingStatus training) {
    @Nullable JobView other = other(view.name());
    return List.of(
        view.name(),
        JobView.coloured(view.phase()),
        seconds(view.jctSeconds()),
        other == null ? "-" : seconds(other.jctSeconds()),
        view.metricName() == null
            ? "-"
            : view.metricName() + " " + Format.number(view.finalMetric()),
        other == null ? "-" : Format.number(other.finalMetric()),
        training == null
            ? "-"
            : "%d (%d up, %d down)"
                .formatted(training.rescales(), training.grows(), training.shrinks()),
        training == null || training.medianPauseMillis() == null
            ? "-"
            : training.medianPauseMillis() + " ms",
        training == null || training.lostOrRepeatedExamples() == null
            ? "-"
            : training.lostOrRepeatedExamples().toString());
  }

  private static String seconds(@Nullable Double seconds) {
    return seconds == null ? "-" : Format.seconds(seconds);
  }

  private @Nullable JobView other(String name) {
    return fixed == null
        ? null
        : fixed.views().stream().filter(v -> v.name().equals(name)).findFirst().orElse(null);
  }

  private static Optional<Double> average(DemoRun.Result result) {
    List<Double> seconds =
        result.views().stream().map(JobView::jctSeconds).filter(Objects::nonNull).toList();
    return seconds.isEmpty() || seconds.size() < result.jobs().size()
        ? Optional.empty()
        : Optional.of(seconds.stream().mapToDouble(Double::doubleValue).sum() / seconds.size());
  }

  /** The contract of {@code --json}; further fields may come. */
  Map<String, @Nullable Object> json() {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("slots", slots);
    json.put("paced", paced);
    json.put("policy", policy);
    json.put("succeeded", good());
    json.put("jobs", elastic.jobs().stream().map(j -> json(j, elastic)).toList());
    json.put("lostOrRepeatedExamples", lost(elastic));
    json.put("meanJctSeconds", average(elastic).orElse(null));
    if (fixed != null) {
      DemoRun.Result other = fixed;
      Map<String, @Nullable Object> comparison = new LinkedHashMap<>();
      comparison.put("policy", "fifo");
      comparison.put("jobs", other.jobs().stream().map(j -> json(j, other)).toList());
      comparison.put("lostOrRepeatedExamples", lost(other));
      comparison.put("meanJctSeconds", average(other).orElse(null));
      json.put("static", comparison);
    }
    return json;
  }

  private static @Nullable Long lost(DemoRun.Result result) {
    List<Long> counts =
        result.jobs().stream()
            .map(DemoReport::training)
            .filter(Objects::nonNull)
            .map(TrainingStatus::lostOrRepeatedExamples)
            .filter(Objects::nonNull)
            .toList();
    // Without an audit of every job nothing is known of the sum.
    return counts.size() < result.jobs().size()
        ? null
        : Long.valueOf(counts.stream().mapToLong(Long::longValue).sum());
  }

  private static Map<String, @Nullable Object> json(TrainingJob job, DemoRun.Result result) {
    JobView view = JobView.of(job);
    @Nullable TrainingStatus training = training(job);
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("name", view.name());
    json.put("phase", view.phase());
    json.put("jctSeconds", view.jctSeconds());
    json.put("finalMetric", view.finalMetric());
    json.put("metricName", view.metricName());
    json.put("rescales", view.rescales() == null ? 0 : view.rescales());
    json.put("restarts", view.restarts() == null ? 0 : view.restarts());
    if (training != null) {
      json.put("grows", training.grows());
      json.put("shrinks", training.shrinks());
      json.put("minReplicas", training.minReplicas());
      json.put("maxReplicas", training.maxReplicas());
      json.put("minGlobalBatch", training.minGlobalBatch());
      json.put("maxGlobalBatch", training.maxGlobalBatch());
      json.put("examplesTrained", training.examples());
      json.put("medianPauseMillis", training.medianPauseMillis());
      json.put("maxPauseMillis", training.maxPauseMillis());
      json.put("lostOrRepeatedExamples", training.lostOrRepeatedExamples());
    }
    SizeTrack track = result.tracks().get(view.name());
    if (track != null) {
      json.put("replicasSeen", track.replicas());
      json.put("globalBatchesSeen", track.batches());
    }
    return json;
  }

  private static @Nullable TrainingStatus training(TrainingJob job) {
    return job.getStatus() == null ? null : job.getStatus().training();
  }
}
