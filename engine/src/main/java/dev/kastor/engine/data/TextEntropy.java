package dev.kastor.engine.data;

/**
 * What simple models of bytes reach on held-out text, in bits per byte: the bars that a trained
 * language model must get below.
 */
public final class TextEntropy {
  private static final int BYTES = 256;

  /**
   * Weight of the unigram model in a bigram estimate, in observations. Small, as the bar should be
   * as low as such a model can get it.
   */
  private static final double PRIOR = 2;

  private TextEntropy() {}

  /** Cross-entropy of the held-out part under byte frequencies with one added to each count. */
  public static double unigramBits(Text text) {
    double[] probability = unigram(text.training());
    double bits = 0;
    for (byte value : text.heldOut()) {
      bits -= log2(probability[value & 0xff]);
    }
    return bits / text.heldOut().length;
  }

  /**
   * Cross-entropy under byte frequencies given the byte before, each smoothed towards the unigram
   * model with a Dirichlet prior (MacKay and Peto, 1995). The first byte has none before and does
   * not count.
   */
  public static double bigramBits(Text text) {
    double[] single = unigram(text.training());
    int[][] pairs = new int[BYTES][BYTES];
    int[] firsts = new int[BYTES];
    byte[] training = text.training();
    for (int i = 1; i < training.length; i++) {
      pairs[training[i - 1] & 0xff][training[i] & 0xff]++;
      firsts[training[i - 1] & 0xff]++;
    }
    byte[] heldOut = text.heldOut();
    double bits = 0;
    for (int i = 1; i < heldOut.length; i++) {
      int before = heldOut[i - 1] & 0xff;
      int now = heldOut[i] & 0xff;
      bits -= log2((pairs[before][now] + PRIOR * single[now]) / (firsts[before] + PRIOR));
    }
    return bits / (heldOut.length - 1);
  }

  private static double[] unigram(byte[] training) {
    double[] probability = new double[BYTES];
    for (byte value : training) {
      probability[value & 0xff]++;
    }
    for (int i = 0; i < BYTES; i++) {
      probability[i] = (probability[i] + 1) / (training.length + BYTES);
    }
    return probability;
  }

  private static double log2(double value) {
    return Math.log(value) / Math.log(2);
  }
}
