package dev.kastor.operator.usage;

/**
 * Slot-milliseconds that were held, by what became of them; the parts are all of it.
 *
 * @param useful training, as far as it was worth what the same slots could do at best
 * @param inefficient training, the rest: statistical efficiency below 1, batch and layout
 * @param starting held before the job trained: image, start, data
 * @param rescaling held for a change of size or place that was not trained with yet, and pauses
 * @param failures missing after a failure until training goes on, and work that is done again
 * @param unknown training of a job that reports no goodput, and time that no operator saw
 */
public record Usage(
    long useful, long inefficient, long starting, long rescaling, long failures, long unknown) {
  /** Nothing. */
  public static final Usage NONE = new Usage(0, 0, 0, 0, 0, 0);

  /** What became of slots that were held. */
  enum Kind {
    USEFUL,
    INEFFICIENT,
    STARTING,
    RESCALING,
    FAILURES,
    UNKNOWN
  }

  /** All of it. */
  public long held() {
    return useful + inefficient + starting + rescaling + failures + unknown;
  }

  /** Both together. */
  public Usage plus(Usage other) {
    return new Usage(
        useful + other.useful,
        inefficient + other.inefficient,
        starting + other.starting,
        rescaling + other.rescaling,
        failures + other.failures,
        unknown + other.unknown);
  }

  static Usage of(Kind kind, long millis) {
    return switch (kind) {
      case USEFUL -> new Usage(millis, 0, 0, 0, 0, 0);
      case INEFFICIENT -> new Usage(0, millis, 0, 0, 0, 0);
      case STARTING -> new Usage(0, 0, millis, 0, 0, 0);
      case RESCALING -> new Usage(0, 0, 0, millis, 0, 0);
      case FAILURES -> new Usage(0, 0, 0, 0, millis, 0);
      case UNKNOWN -> new Usage(0, 0, 0, 0, 0, millis);
    };
  }
}
