package dev.kastor.engine.data;

import java.util.OptionalLong;

/**
 * Findings of a check of images that read no more than headers, first rows and listings of folders.
 *
 * @param shape shape of the images; its classes may be fewer than there are
 * @param mostExamples the most training examples that there can be, if that is known
 */
public record Glance(ImageShape shape, OptionalLong mostExamples) {
  /** Findings with a known number of training examples. */
  public static Glance of(int height, int width, int channels, long mostExamples) {
    return new Glance(new ImageShape(height, width, channels, 1), OptionalLong.of(mostExamples));
  }
}
