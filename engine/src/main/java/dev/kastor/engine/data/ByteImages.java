package dev.kastor.engine.data;

/**
 * Labelled images in a byte for each value.
 *
 * @param shape shape of each image
 * @param pixels {@code [examples, height, width, channels]} flat, each 0 to 255
 * @param labels one per example
 * @param meaning the number that each of the 256 values stands for
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record ByteImages(ImageShape shape, byte[] pixels, int[] labels, float[] meaning)
    implements Examples {
  private static final int VALUES = 256;

  /** Mean and deviation of pixels. */
  record Standard(double mean, double deviation) {
    /**
     * Those of some pixels.
     *
     * @param pixels at least one
     */
    static Standard of(byte[] pixels) {
      long[] counts = new long[VALUES];
      for (byte pixel : pixels) {
        counts[pixel & 0xff]++;
      }
      double sum = 0;
      for (int value = 0; value < VALUES; value++) {
        sum += (double) value * counts[value];
      }
      double mean = sum / pixels.length;
      double squares = 0;
      for (int value = 0; value < VALUES; value++) {
        squares += counts[value] * (value - mean) * (value - mean);
      }
      return new Standard(mean, Math.sqrt(squares / pixels.length));
    }

    /** The numbers that values stand for so that those of the pixels have mean 0, deviation 1. */
    float[] meaning() {
      float[] meaning = new float[VALUES];
      for (int value = 0; value < VALUES; value++) {
        // Images of one and the same value carry nothing.
        meaning[value] = deviation == 0 ? 0 : (float) ((value - mean) / deviation);
      }
      return meaning;
    }
  }

  @Override
  public int examples() {
    return labels.length;
  }

  @Override
  public void gather(int[] examples, float[] features, int[] targets) {
    int size = shape.features();
    for (int i = 0; i < examples.length; i++) {
      int from = examples[i] * size;
      for (int j = 0; j < size; j++) {
        features[i * size + j] = meaning[pixels[from + j] & 0xff];
      }
      targets[i] = labels[examples[i]];
    }
  }
}
