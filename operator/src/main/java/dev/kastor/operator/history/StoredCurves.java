package dev.kastor.operator.history;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Curves of a job as its status holds them, for the time before this operator began: few points,
 * evenly spread over the life of the job, whose first and last are always there.
 *
 * @param samples what reports said, oldest first; efficiency and steps per second follow from the
 *     rest
 * @param scalars what the script logged, by name in order, oldest first
 */
public record StoredCurves(List<Sample> samples, SequencedMap<String, List<ScalarPoint>> scalars) {
  static final StoredCurves NONE = new StoredCurves(List.of(), Collections.emptySortedMap());

  /** Most samples. */
  static final int MOST_SAMPLES = 40;

  /** Most names of scalars; beyond it the first in order are kept. */
  static final int MOST_NAMES = 24;

  /** Most points of all names together. */
  static final int MOST_POINTS = 120;

  public StoredCurves {
    samples = List.copyOf(samples);
    SequencedMap<String, List<ScalarPoint>> sorted = new TreeMap<>();
    scalars.forEach((name, points) -> sorted.put(name, List.copyOf(points)));
    scalars = Collections.unmodifiableSequencedMap(sorted);
  }

  /**
   * The text that a job's status is to hold.
   *
   * @param story what this operator knows
   * @param before what the status holds; null if nothing
   */
  public static String text(JobStory story, @Nullable String before) {
    JobStory whole = completed(story, before);
    SequencedMap<String, List<ScalarPoint>> scalars = new TreeMap<>();
    whole.scalars().entrySet().stream()
        .limit(MOST_NAMES)
        .forEach(each -> scalars.put(each.getKey(), each.getValue()));
    int most = MOST_POINTS / Math.max(1, scalars.size());
    scalars.replaceAll((_, points) -> thinned(points, ScalarPoint::epochMillis, most));
    return CurvesText.of(
        new StoredCurves(
            thinned(whole.samples(), sample -> sample.at().toEpochMilli(), MOST_SAMPLES), scalars));
  }

  /**
   * A story with what a status holds of the time before.
   *
   * @param stored what the status holds; null if nothing
   */
  public static JobStory completed(JobStory story, @Nullable String stored) {
    StoredCurves early = stored == null ? NONE : CurvesText.read(stored);
    SequencedMap<String, List<ScalarPoint>> scalars = new TreeMap<>();
    TreeSet<String> names = new TreeSet<>(early.scalars.keySet());
    names.addAll(story.scalars().keySet());
    for (String name : names) {
      scalars.put(
          name,
          joined(
              early.scalars.getOrDefault(name, List.of()),
              story.scalars().getOrDefault(name, List.of()),
              ScalarPoint::epochMillis));
    }
    return story.with(
        joined(early.samples, story.samples(), sample -> sample.at().toEpochMilli()), scalars);
  }

  /** What is stored has whole seconds, so that of the first second of the rest is known better. */
  private static <T> List<T> joined(List<T> early, List<T> late, ToLongFunction<T> millis) {
    if (late.isEmpty()) {
      return early;
    }
    long first = seconds(millis.applyAsLong(late.getFirst()));
    List<T> all = new ArrayList<>();
    early.stream().filter(each -> seconds(millis.applyAsLong(each)) < first).forEach(all::add);
    all.addAll(late);
    return all;
  }

  private static long seconds(long millis) {
    return Instant.ofEpochMilli(millis).getEpochSecond();
  }

  /** Of at most so many equal parts of the time, the first point in each, and the last of all. */
  static <T> List<T> thinned(List<T> points, ToLongFunction<T> millis, int most) {
    if (points.size() <= most) {
      return points;
    }
    long begin = millis.applyAsLong(points.getFirst());
    double part = Math.max(1, (double) (millis.applyAsLong(points.getLast()) - begin) / (most - 1));
    List<T> kept = new ArrayList<>();
    double next = 0;
    for (T point : points.subList(0, points.size() - 1)) {
      long at = millis.applyAsLong(point) - begin;
      if (at >= next && kept.size() < most - 1) {
        kept.add(point);
        next = (Math.floor(at / part) + 1) * part;
      }
    }
    kept.add(points.getLast());
    return kept;
  }
}
