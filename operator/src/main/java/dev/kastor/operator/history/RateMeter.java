package dev.kastor.operator.history;

import dev.kastor.protocol.Progress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a job achieved per second over a short window of its own progress reports, pauses included.
 *
 * <p>A start from a checkpoint takes progress back: the window begins anew. Not thread-safe.
 */
final class RateMeter {
  private static final Duration WINDOW = Duration.ofSeconds(4);
  private static final int MOST_MARKS = 64;

  private final Deque<Mark> marks = new ArrayDeque<>();

  private record Mark(Instant at, Progress progress) {}

  /** Examples and steps per second; {@code NaN} before two reports are known. */
  record Rates(double examples, double steps, double scaleInvariantSteps) {
    private static final Rates UNKNOWN = new Rates(Double.NaN, Double.NaN, Double.NaN);
  }

  Rates mark(Instant at, Progress progress) {
    if (!marks.isEmpty() && marks.getLast().progress().examples() > progress.examples()) {
      marks.clear();
    }
    marks.addLast(new Mark(at, progress));
    // The oldest mark stays just outside the window, so that the window is always spanned.
    while ((marks.size() > 2 && reachesBack(at)) || marks.size() > MOST_MARKS) {
      marks.removeFirst();
    }
    Mark first = marks.getFirst();
    double seconds = Duration.between(first.at(), at).toNanos() * 1e-9;
    if (seconds <= 0) {
      return Rates.UNKNOWN;
    }
    return new Rates(
        (progress.examples() - first.progress().examples()) / seconds,
        (progress.step() - first.progress().step()) / seconds,
        (progress.scaleInvariantSteps() - first.progress().scaleInvariantSteps()) / seconds);
  }

  /** Whether the second oldest mark alone spans the window. */
  private boolean reachesBack(Instant now) {
    var oldest = marks.iterator();
    oldest.next();
    return !oldest.next().at().isAfter(now.minus(WINDOW));
  }
}
