package dev.kastor.operator.web;

import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.history.Sample;
import dev.kastor.operator.history.ScalarPoint;
import dev.kastor.operator.history.Segment;
import dev.kastor.scheduler.model.JobId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One job's past; {@code GET /api/v1/jobs/{namespace}/{name}/history}.
 *
 * @param namespace its namespace
 * @param name its name
 * @param series measurements over time
 * @param scalars what the script logged, by name in order
 * @param timeline allocations over time
 * @param servers its parameter servers; null where its replicas have the parameters
 */
public record HistoryView(
    String namespace,
    String name,
    SeriesView series,
    SequencedMap<String, ScalarView> scalars,
    List<SegmentView> timeline,
    @Nullable ServersView servers) {

  /**
   * Measurements as columns of equal length; a value that was not known is null.
   *
   * @param epochMillis when, Unix time in ms
   * @param step optimizer steps applied
   * @param loss mean training loss
   * @param throughput examples per second
   * @param goodput effective examples per second
   * @param efficiency statistical efficiency in (0, 1]
   * @param stepsPerSecond optimizer steps per second
   * @param noiseScale gradient noise scale in examples
   * @param learningRate in force at the last step
   * @param globalBatch global batch in examples
   * @param replicas replicas that trained
   */
  public record SeriesView(
      List<Long> epochMillis,
      List<Long> step,
      List<@Nullable Double> loss,
      List<@Nullable Double> throughput,
      List<@Nullable Double> goodput,
      List<@Nullable Double> efficiency,
      List<@Nullable Double> stepsPerSecond,
      List<@Nullable Double> noiseScale,
      List<@Nullable Double> learningRate,
      List<Integer> globalBatch,
      List<Integer> replicas) {
    static SeriesView of(List<Sample> samples) {
      return new SeriesView(
          samples.stream().map(sample -> sample.at().toEpochMilli()).toList(),
          samples.stream().map(Sample::step).toList(),
          column(samples, Sample::loss),
          column(samples, Sample::throughput),
          column(samples, Sample::goodput),
          column(samples, Sample::efficiency),
          column(samples, Sample::stepsPerSecond),
          column(samples, Sample::noiseScale),
          column(samples, Sample::learningRate),
          samples.stream().map(Sample::globalBatch).toList(),
          samples.stream().map(Sample::replicas).toList());
    }
  }

  /**
   * One scalar as columns of equal length.
   *
   * @param epochMillis when, Unix time in ms
   * @param step optimizer steps applied
   * @param value mean since the point before
   */
  public record ScalarView(List<Long> epochMillis, List<Long> step, List<Double> value) {
    static ScalarView of(List<ScalarPoint> points) {
      return new ScalarView(
          points.stream().map(ScalarPoint::epochMillis).toList(),
          points.stream().map(ScalarPoint::step).toList(),
          points.stream().map(ScalarPoint::value).toList());
    }
  }

  /**
   * A stretch of time with one allocation.
   *
   * @param from Unix time in ms
   * @param to Unix time in ms; null while it lasts
   * @param replicas replicas on all nodes
   * @param slots slots that these take
   * @param nodes replicas by node
   * @param reason why, as one word
   * @param message why, as a sentence
   */
  public record SegmentView(
      long from,
      @Nullable Long to,
      int replicas,
      int slots,
      Map<String, Integer> nodes,
      String reason,
      String message) {
    static SegmentView of(Segment segment) {
      Instant to = segment.to();
      return new SegmentView(
          segment.from().toEpochMilli(),
          to == null ? null : to.toEpochMilli(),
          segment.replicas(),
          segment.slots(),
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

  static HistoryView of(JobStory story, @Nullable ServersView servers) {
    SequencedMap<String, ScalarView> scalars = new TreeMap<>();
    story.scalars().forEach((name, points) -> scalars.put(name, ScalarView.of(points)));
    return new HistoryView(
        story.job().namespace(),
        story.job().name(),
        SeriesView.of(story.samples()),
        scalars,
        story.segments().stream().map(SegmentView::of).toList(),
        servers);
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
