package dev.kastor.operator.web;

import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.history.Sample;
import dev.kastor.operator.history.Segment;
import dev.kastor.scheduler.model.JobId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One job's past; {@code GET /api/v1/jobs/{namespace}/{name}/history}.
 *
 * @param namespace its namespace
 * @param name its name
 * @param series measurements over time
 * @param timeline allocations over time
 */
public record HistoryView(
    String namespace, String name, SeriesView series, List<SegmentView> timeline) {

  /**
   * Measurements as columns of equal length; a value that was not known is null.
   *
   * @param epochMillis when, Unix time in ms
   * @param loss mean training loss
   * @param throughput examples per second
   * @param goodput effective examples per second
   * @param efficiency statistical efficiency in (0, 1]
   * @param globalBatch global batch in examples
   * @param replicas replicas that trained
   */
  public record SeriesView(
      List<Long> epochMillis,
      List<@Nullable Double> loss,
      List<@Nullable Double> throughput,
      List<@Nullable Double> goodput,
      List<@Nullable Double> efficiency,
      List<Integer> globalBatch,
      List<Integer> replicas) {}

  /**
   * A stretch of time with one allocation.
   *
   * @param from Unix time in ms
   * @param to Unix time in ms; null while it lasts
   * @param replicas replicas on all nodes
   * @param nodes replicas by node
   * @param reason why, as one word
   * @param message why, as a sentence
   */
  public record SegmentView(
      long from,
      @Nullable Long to,
      int replicas,
      Map<String, Integer> nodes,
      String reason,
      String message) {
    static SegmentView of(Segment segment) {
      Instant to = segment.to();
      return new SegmentView(
          segment.from().toEpochMilli(),
          to == null ? null : to.toEpochMilli(),
          segment.replicas(),
          segment.replicasByNode(),
          segment.reason(),
          segment.message());
    }
  }

  /** The allocations of one job; {@code GET /api/v1/timeline} answers with a list of them. */
  public record TimelineView(String namespace, String name, List<SegmentView> segments) {
    static TimelineView of(JobId job, List<Segment> segments) {
      return new TimelineView(
          job.namespace(), job.name(), segments.stream().map(SegmentView::of).toList());
    }
  }

  static HistoryView of(JobStory story) {
    List<Sample> samples = story.samples();
    return new HistoryView(
        story.job().namespace(),
        story.job().name(),
        new SeriesView(
            samples.stream().map(sample -> sample.at().toEpochMilli()).toList(),
            column(samples, Sample::loss),
            column(samples, Sample::throughput),
            column(samples, Sample::goodput),
            column(samples, Sample::efficiency),
            samples.stream().map(Sample::globalBatch).toList(),
            samples.stream().map(Sample::replicas).toList()),
        story.segments().stream().map(SegmentView::of).toList());
  }

  private static List<@Nullable Double> column(
      List<Sample> samples, ToDoubleFunction<Sample> value) {
    List<@Nullable Double> column = new ArrayList<>(samples.size());
    samples.forEach(sample -> column.add(known(value.applyAsDouble(sample))));
    return column;
  }

  /** JSON has no NaN. */
  static @Nullable Double known(double value) {
    return Double.isFinite(value) ? value : null;
  }
}
