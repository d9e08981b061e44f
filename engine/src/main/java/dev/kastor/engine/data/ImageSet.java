package dev.kastor.engine.data;

/**
 * Labelled images, or labelled rows of numbers as images of one pixel row.
 *
 * @param height pixels
 * @param width pixels
 * @param channels values per pixel
 * @param classes labels are in [0, classes)
 * @param pixels {@code [examples, height, width, channels]} flat
 * @param labels one per example
 */
@SuppressWarnings("ArrayRecordComponent") // shared bulk data, never compared
public record ImageSet(
    int height, int width, int channels, int classes, float[] pixels, int[] labels)
    implements Examples {
  public ImageSet {
    if (height < 1 || width < 1 || channels < 1 || classes < 1) {
      throw new IllegalArgumentException(
          "height %d, width %d, channels %d and classes %d must be at least 1"
              .formatted(height, width, channels, classes));
    }
    if (pixels.length != (long) labels.length * height * width * channels) {
      throw new IllegalArgumentException(
          "%d values do not make %d examples of %dx%dx%d"
              .formatted(pixels.length, labels.length, height, width, channels));
    }
  }

  /** Shape of each image, and how many classes there are. */
  public ImageShape shape() {
    return new ImageShape(height, width, channels, classes);
  }

  @Override
  public int examples() {
    return labels.length;
  }

  /** Values per image. */
  public int features() {
    return height * width * channels;
  }

  @Override
  public void gather(int[] examples, float[] features, int[] targets) {
    int size = features();
    for (int i = 0; i < examples.length; i++) {
      System.arraycopy(pixels, examples[i] * size, features, i * size, size);
      targets[i] = labels[examples[i]];
    }
  }

  /** The examples from one number, inclusive, to another, exclusive, as a set of its own. */
  public ImageSet slice(int from, int to) {
    int size = features();
    return new ImageSet(
        height,
        width,
        channels,
        classes,
        java.util.Arrays.copyOfRange(pixels, from * size, to * size),
        java.util.Arrays.copyOfRange(labels, from, to));
  }
}
