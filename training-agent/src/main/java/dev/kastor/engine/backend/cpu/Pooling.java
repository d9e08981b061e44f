package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Max pooling over windows side by side, one line of windows at a time. */
final class Pooling {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private Pooling() {}

  static Kernel maximum(int size, Shape pooled, Place image, Place out) {
    int channels = pooled.extent(3);
    int windows = pooled.extent(2);
    float[] line = new float[windows * size * channels];
    float[] top = new float[windows * channels];
    int lines = pooled.elements(0, 2);
    return () -> {
      for (int i = 0; i < lines; i++) {
        for (int y = 0; y < size; y++) {
          load(image, i * size + y, line);
          for (int window = 0; window < windows; window++) {
            for (int x = 0; x < size; x++) {
              int from = (window * size + x) * channels;
              maximum(line, from, top, window * channels, channels, y + x == 0);
            }
          }
        }
        store(top, out, i);
      }
    };
  }

  private static void maximum(
      float[] line, int from, float[] top, int to, int channels, boolean first) {
    if (first) {
      System.arraycopy(line, from, top, to, channels);
      return;
    }
    for (int c = 0; c < channels; c++) {
      top[to + c] = Math.max(top[to + c], line[from + c]);
    }
  }

  static Kernel gradient(
      int size, Shape pooled, Place image, Place maxima, Place gradient, Place out) {
    int channels = pooled.extent(3);
    int width = pooled.extent(2) * size * channels;
    float[][] lines = new float[size][width];
    float[] top = new float[pooled.extent(2) * channels];
    float[] share = new float[top.length];
    int count = pooled.elements(0, 2);
    return () -> {
      for (int i = 0; i < count; i++) {
        load(maxima, i, top);
        load(gradient, i, share);
        for (int y = 0; y < size; y++) {
          load(image, i * size + y, lines[y]);
        }
        share(lines, top, share, size, channels);
        for (int y = 0; y < size; y++) {
          store(lines[y], out, i * size + y);
        }
      }
    };
  }

  /** Replaces the image's lines by their gradient. */
  private static void share(
      float[][] lines, float[] top, float[] gradient, int size, int channels) {
    for (int at = 0; at < top.length; at++) {
      int corner = at / channels * size * channels + at % channels;
      int winners = 0;
      for (float[] line : lines) {
        for (int x = 0; x < size; x++) {
          winners += line[corner + x * channels] >= top[at] ? 1 : 0;
        }
      }
      float share = gradient[at] / winners;
      for (float[] line : lines) {
        for (int x = 0; x < size; x++) {
          int place = corner + x * channels;
          line[place] = line[place] >= top[at] ? share : 0;
        }
      }
    }
  }

  private static void load(Place from, int line, float[] to) {
    MemorySegment.copy(from.segment(), FLOAT, 4L * line * to.length, to, 0, to.length);
  }

  private static void store(float[] from, Place to, int line) {
    MemorySegment.copy(from, 0, to.segment(), FLOAT, 4L * line * from.length, from.length);
  }
}
