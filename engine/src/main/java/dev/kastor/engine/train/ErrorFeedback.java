package dev.kastor.engine.train;

/**
 * Error buffer of a codec: what codes left out of gradients is added to the next gradient (Seide et
 * al., Interspeech 2014, section 3.1; Karimireddy et al., ICML 2019).
 *
 * <p>The buffer is staged: what is left of a gradient counts after {@link #commit} alone. It takes
 * two vectors as long as the gradient. Not thread-safe.
 */
public final class ErrorFeedback {
  private float[] kept;
  private float[] staged;
  private boolean begun;

  /**
   * A buffer of zeros.
   *
   * @param length of the gradient
   */
  public ErrorFeedback(int length) {
    kept = new float[length];
    staged = new float[length];
  }

  /**
   * A gradient and all that was left out before it.
   *
   * @return a vector of which the caller takes away what its code stands for; what remains is what
   *     {@link #commit} keeps
   */
  public float[] plus(float[] gradient) {
    for (int i = 0; i < staged.length; i++) {
      staged[i] = kept[i] + gradient[i];
    }
    begun = true;
    return staged;
  }

  /** Keeps what remains of the last vector; without a new one since the last time, nothing. */
  public void commit() {
    if (begun) {
      float[] before = kept;
      kept = staged;
      staged = before;
      begun = false;
    }
  }
}
