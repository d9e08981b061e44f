package dev.kastor.engine.data;

import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * A sign drawn with a few strokes.
 *
 * <p>Strokes are polylines {@code x0, y0, x1, y1, ..} in the square [-1, 1], y pointing down. No
 * fonts are involved, so that every machine draws the same.
 */
@SuppressWarnings("ArrayRecordComponent") // constant coordinates, never compared
record Glyph(String name, double[]... strokes) {
  /** All glyphs; the index is the class. */
  static final List<Glyph> ALL =
      List.of(
          new Glyph(
              "ring",
              curve(20, t -> 0.8 * Math.cos(turn(t, 20)), t -> 0.8 * Math.sin(turn(t, 20)))),
          new Glyph("cross", line(-0.7, -0.7, 0.7, 0.7), line(-0.7, 0.7, 0.7, -0.7)),
          new Glyph("plus", line(0, -0.85, 0, 0.85), line(-0.85, 0, 0.85, 0)),
          new Glyph("triangle", line(0, -0.8, 0.8, 0.65, -0.8, 0.65, 0, -0.8)),
          new Glyph("square", line(-0.7, -0.7, 0.7, -0.7, 0.7, 0.7, -0.7, 0.7, -0.7, -0.7)),
          new Glyph("hourglass", line(-0.65, -0.8, 0.65, -0.8, -0.65, 0.8, 0.65, 0.8, -0.65, -0.8)),
          new Glyph("zigzag", line(-0.85, -0.6, -0.4, 0.6, 0, -0.6, 0.4, 0.6, 0.85, -0.6)),
          new Glyph(
              "spiral",
              curve(
                  28,
                  t -> (0.1 + 0.75 * t / 28) * Math.cos(2 * turn(t, 28)),
                  t -> (0.1 + 0.75 * t / 28) * Math.sin(2 * turn(t, 28)))),
          new Glyph("arrow", line(0, 0.85, 0, -0.85), line(-0.55, -0.3, 0, -0.85, 0.55, -0.3)),
          new Glyph(
              "wave", curve(16, t -> -0.85 + 1.7 * t / 16, t -> 0.45 * Math.sin(turn(t, 16)))),
          new Glyph("fork", line(0, 0.85, 0, 0), line(-0.65, -0.8, 0, 0, 0.65, -0.8)),
          new Glyph(
              "bars",
              line(-0.75, -0.6, 0.75, -0.6),
              line(-0.75, 0, 0.75, 0),
              line(-0.75, 0.6, 0.75, 0.6)));

  private static double turn(int step, int steps) {
    return 2 * Math.PI * step / steps;
  }

  private static double[] line(double... coordinates) {
    return coordinates;
  }

  private static double[] curve(int steps, IntToDoubleFunction x, IntToDoubleFunction y) {
    double[] coordinates = new double[2 * (steps + 1)];
    for (int i = 0; i <= steps; i++) {
      coordinates[2 * i] = x.applyAsDouble(i);
      coordinates[2 * i + 1] = y.applyAsDouble(i);
    }
    return coordinates;
  }
}
