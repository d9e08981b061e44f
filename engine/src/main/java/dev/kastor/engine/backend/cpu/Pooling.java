package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Max pooling over windows side by side, one line of windows at a time. */
final class Pooling {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private Pooling() {}

  static Kernel maximum(Team team, int size, Shape pooled, Place image, Place out) {
    int channels = pooled.extent(3);
    int windows = pooled.extent(2);
    int lines = pooled.elements(0, 2);
    long elements = (long) size * size * pooled.elements();
    return team.loop(lines, elements, () -> maximum(size, channels, windows, image, out));
  }

  private static Team.Part maximum(int size, int channels, int windows, Place image, Place out) {
    float[] line = new float[windows * size * channels];
    float[] top = new float[windows * channels];
    return (first, last) -> {
      for (int i = first; i < last; i++) {
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
      Team team, int size, Shape pooled, Place image, Place maxima, Place gradient, Place out) {
    return team.loop(
        pooled.elements(0, 2),
        (long) size * size * pooled.elements(),
        () -> gradient(size, pooled, image, maxima, gradient, out));
  }

  private static Team.Part gradient(
      int size, Shape pooled, Place image, Place maxima, Place gradient, Place out) {
    int channels = pooled.extent(3);
    float[] line = new float[pooled.extent(2) * size * channels];
    float[] top = new float[pooled.extent(2) * channels];
    float[] share = new float[top.length];
    float[] winners = new float[top.length];
    // One array for each place of a window, so that all loops have one index and become vectors.
    float[][] places = new float[size * size][top.length];
    return (first, last) -> {
      for (int i = first; i < last; i++) {
        load(maxima, i, top);
        load(gradient, i, share);
        Arrays.fill(winners, 0);
        for (int y = 0; y < size; y++) {
          load(image, i * size + y, line);
          for (int x = 0; x < size; x++) {
            float[] place = places[y * size + x];
            split(line, x, place, size, channels);
            count(place, top, winners);
          }
        }
        divide(share, winners);
        for (int y = 0; y < size; y++) {
          for (int x = 0; x < size; x++) {
            float[] place = places[y * size + x];
            share(place, top, share);
            join(place, line, x, size, channels);
          }
          store(line, out, i * size + y);
        }
      }
    };
  }

  private static void split(float[] line, int x, float[] place, int size, int channels) {
    for (int at = 0; at < place.length; at += channels) {
      System.arraycopy(line, at * size + x * channels, place, at, channels);
    }
  }

  private static void join(float[] place, float[] line, int x, int size, int channels) {
    for (int at = 0; at < place.length; at += channels) {
      System.arraycopy(place, at, line, at * size + x * channels, channels);
    }
  }

  /** Counts in each window who is its maximum. */
  private static void count(float[] place, float[] top, float[] winners) {
    for (int i = 0; i < top.length; i++) {
      winners[i] += 1 - Loops.exceeds(top[i], place[i]);
    }
  }

  private static void divide(float[] gradient, float[] winners) {
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] /= winners[i];
    }
  }

  /** Replaces elements by their gradient: an equal share for each of the winners. */
  private static void share(float[] place, float[] top, float[] share) {
    for (int i = 0; i < top.length; i++) {
      place[i] = (1 - Loops.exceeds(top[i], place[i])) * share[i];
    }
  }

  private static void load(Place from, int line, float[] to) {
    MemorySegment.copy(from.segment(), FLOAT, 4L * line * to.length, to, 0, to.length);
  }

  private static void store(float[] from, Place to, int line) {
    MemorySegment.copy(from, 0, to.segment(), FLOAT, 4L * line * from.length, from.length);
  }
}
