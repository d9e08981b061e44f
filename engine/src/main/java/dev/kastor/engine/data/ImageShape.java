package dev.kastor.engine.data;

/**
 * Shape of labelled images.
 *
 * @param height pixels
 * @param width pixels
 * @param channels values per pixel
 * @param classes labels are in [0, classes)
 */
public record ImageShape(int height, int width, int channels, int classes) {
  public ImageShape {
    if (height < 1 || width < 1 || channels < 1 || classes < 1) {
      throw new IllegalArgumentException(
          "height %d, width %d, channels %d and classes %d must be at least 1"
              .formatted(height, width, channels, classes));
    }
  }

  /** Values per image. */
  public int features() {
    return Math.multiplyExact(Math.multiplyExact(height, width), channels);
  }

  @Override
  public String toString() {
    return channels == 1
        ? "%dx%d in grey".formatted(width, height)
        : "%dx%d in %d colours".formatted(width, height, channels);
  }
}
