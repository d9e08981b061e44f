package dev.kastor.scheduler.estimate;

import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Compares the first reports of a job with what its family remembers.
 *
 * <p>The judgement is on the lower median of the absolute logarithms of measured over remembered,
 * of at least two reports: a single one may be slow for reasons of its own, such as code that is
 * still being compiled. After three it is final.
 */
final class Probation {
  /** What the reports say so far. */
  enum Verdict {
    OPEN,
    CONFIRMED,
    CONTRADICTED,

    /** Nothing that was remembered could be compared. */
    UNKNOWN
  }

  private static final int LEAST = 2;
  private static final int MOST = 3;
  private static final int MOST_UNJUDGED = 6;

  private final double tolerance;
  private final SequencedMap<Object, Double> errors = new LinkedHashMap<>();
  private int judged;
  private int heard;
  private Verdict verdict = Verdict.OPEN;

  /** Ends in a contradiction beyond this factor. */
  Probation(double factor) {
    tolerance = Math.log(factor);
  }

  /** One that is over because there is nothing to compare with. */
  static Probation over() {
    Probation over = new Probation(1);
    over.verdict = Verdict.UNKNOWN;
    return over;
  }

  Verdict verdict() {
    return verdict;
  }

  /**
   * Takes in one report.
   *
   * @param about what it measured; a later report about the same replaces an earlier one
   * @param logRatio of measured over remembered; NaN where nothing remembered can be compared
   */
  Verdict hear(Object about, double logRatio) {
    heard++;
    if (!Double.isNaN(logRatio)) {
      judged++;
      errors.put(about, Math.abs(logRatio));
    }
    if (judged >= LEAST && median() > tolerance) {
      verdict = Verdict.CONTRADICTED;
    } else if (judged >= MOST || heard >= MOST_UNJUDGED) {
      verdict = judged > 0 ? Verdict.CONFIRMED : Verdict.UNKNOWN;
    }
    return verdict;
  }

  private double median() {
    double[] sorted = errors.values().stream().mapToDouble(error -> error).sorted().toArray();
    return sorted[(sorted.length - 1) / 2];
  }
}
