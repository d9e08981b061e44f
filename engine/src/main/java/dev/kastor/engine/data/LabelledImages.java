package dev.kastor.engine.data;

/**
 * A training part and a held-out part of the same kind of images.
 *
 * @param training what is trained on
 * @param heldOut what only evaluation sees
 */
public record LabelledImages(ImageSet training, ImageSet heldOut) {
  public LabelledImages {
    if (training.height() != heldOut.height()
        || training.width() != heldOut.width()
        || training.channels() != heldOut.channels()
        || training.classes() != heldOut.classes()) {
      throw new IllegalArgumentException("training and held-out images differ in shape or classes");
    }
  }

  /**
   * Shift and scale of features.
   *
   * @param mean subtracted from a feature; one for each, or one for all
   * @param factor multiplied with the difference; as many
   */
  @SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
  public record Standard(float[] mean, float[] factor) {}

  /**
   * What brings each feature to mean 0 and deviation 1 over the training part; {@code perFeature}
   * false takes one mean and deviation for all pixels.
   */
  public Standard standard(boolean perFeature) {
    int period = perFeature ? training.features() : 1;
    float[] pixels = training.pixels();
    double[] sum = new double[period];
    double[] squares = new double[period];
    for (int i = 0; i < pixels.length; i++) {
      sum[i % period] += pixels[i];
    }
    double count = (double) pixels.length / period;
    for (int i = 0; i < pixels.length; i++) {
      double centered = pixels[i] - sum[i % period] / count;
      squares[i % period] += centered * centered;
    }
    float[] mean = new float[period];
    float[] inverse = new float[period];
    for (int i = 0; i < period; i++) {
      mean[i] = (float) (sum[i] / count);
      double deviation = Math.sqrt(squares[i] / count);
      // A constant feature carries nothing: it becomes 0 rather than infinite.
      inverse[i] = deviation > 1e-12 ? (float) (1 / deviation) : 0;
    }
    return new Standard(mean, inverse);
  }

  /** Both parts shifted and scaled. */
  public LabelledImages with(Standard standard) {
    return new LabelledImages(
        scale(training, standard.mean, standard.factor),
        scale(heldOut, standard.mean, standard.factor));
  }

  private static ImageSet scale(ImageSet set, float[] mean, float[] inverse) {
    float[] pixels = new float[set.pixels().length];
    for (int i = 0; i < pixels.length; i++) {
      int at = i % mean.length;
      pixels[i] = (set.pixels()[i] - mean[at]) * inverse[at];
    }
    return new ImageSet(
        set.height(), set.width(), set.channels(), set.classes(), pixels, set.labels());
  }
}
