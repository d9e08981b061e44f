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
 * @param cost what all of it cost
 */
public record Usage(
    long useful,
    long inefficient,
    long starting,
    long rescaling,
    long failures,
    long unknown,
    Cost cost) {
  /** Nothing. */
  public static final Usage NONE = new Usage(0, 0, 0, 0, 0, 0);

  /** Usage on nodes without a price. */
  public Usage(
      long useful, long inefficient, long starting, long rescaling, long failures, long unknown) {
    this(useful, inefficient, starting, rescaling, failures, unknown, Cost.NONE);
  }

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
        unknown + other.unknown,
        cost.plus(other.cost));
  }

  /** The same at another cost. */
  Usage costing(Cost other) {
    return new Usage(useful, inefficient, starting, rescaling, failures, unknown, other);
  }

  /** Of each use and of the cost the larger of both. */
  Usage atLeast(Usage other) {
    return new Usage(
        Math.max(useful, other.useful),
        Math.max(inefficient, other.inefficient),
        Math.max(starting, other.starting),
        Math.max(rescaling, other.rescaling),
        Math.max(failures, other.failures),
        Math.max(unknown, other.unknown),
        new Cost(
            Math.max(cost.micros(), other.cost.micros()),
            Math.max(cost.pricedMillis(), other.cost.pricedMillis())));
  }

  /** Slot-milliseconds of one use. */
  long of(Kind kind) {
    return switch (kind) {
      case USEFUL -> useful;
      case INEFFICIENT -> inefficient;
      case STARTING -> starting;
      case RESCALING -> rescaling;
      case FAILURES -> failures;
      case UNKNOWN -> unknown;
    };
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
