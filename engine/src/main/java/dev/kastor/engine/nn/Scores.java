package dev.kastor.engine.nn;

/**
 * How well a model does on some examples; scores add up.
 *
 * @param loss sum of the losses in nats
 * @param positions targets scored
 * @param correct targets that had the highest logit
 */
public record Scores(double loss, long positions, long correct) {
  /** Of nothing. */
  public static final Scores NONE = new Scores(0, 0, 0);

  public Scores plus(Scores other) {
    return new Scores(loss + other.loss, positions + other.positions, correct + other.correct);
  }

  /** Nats per target. */
  public double meanLoss() {
    return loss / positions;
  }

  /** The share of targets that were correct. */
  public double accuracy() {
    return (double) correct / positions;
  }
}
