package dev.kastor.agent.trainer;

import java.time.Duration;

/**
 * Pace at which rank 0 evaluates a job that trains: with a least time of training in between, and
 * so rarely that evaluations take no more than a fiftieth of the time that its steps take.
 *
 * <p>The first is expected to take what training on as many examples takes, the next ones what the
 * last one took. One that takes longer is made up for before the next. Not thread-safe.
 */
final class EvaluationPace {
  /** Seconds of training for each second of evaluation. */
  static final int TRAINING_PER_EVALUATION = 50;

  private final double leastSeconds;
  private double trained;
  private double sinceLast;
  private double spent;
  private double last;

  /** A pace with so much training in between. */
  EvaluationPace(Duration least) {
    leastSeconds = least.toNanos() * 1e-9;
  }

  /** Notes a step as rank 0. */
  void stepped(double seconds) {
    trained += seconds;
    sinceLast += seconds;
  }

  /**
   * Whether it is time to evaluate.
   *
   * @param estimate seconds that the first evaluation would take at most
   */
  boolean due(double estimate) {
    double next = last > 0 ? last : estimate;
    return sinceLast >= leastSeconds && (spent + next) * TRAINING_PER_EVALUATION <= trained;
  }

  /** Notes an evaluation. */
  void evaluated(double seconds) {
    spent += seconds;
    last = seconds;
    sinceLast = 0;
  }
}
