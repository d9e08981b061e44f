package dev.kastor.engine.data;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws images of glyphs, each turned, sheared, scaled and moved at random, with strokes of random
 * thickness, clutter and noise.
 *
 * <p>An image depends on (seed, part, number) only; the two parts never share a seed.
 */
public final class GlyphImages {
  private static final List<Glyph> GLYPHS = Glyph.ALL;

  private final long seed;
  private final int side;
  private final double difficulty;

  /**
   * A source of images.
   *
   * @param side height and width in pixels, at least 8
   * @param difficulty 0 draws clean, upright glyphs; 1 is the usual amount of change and clutter
   */
  public GlyphImages(long seed, int side, double difficulty) {
    if (side < 8 || side > 256) {
      throw new IllegalArgumentException("side must be in [8, 256] but is %d.".formatted(side));
    }
    if (!(difficulty >= 0 && difficulty <= 4)) {
      throw new IllegalArgumentException(
          "difficulty must be in [0, 4] but is %s.".formatted(difficulty));
    }
    this.seed = seed;
    this.side = side;
    this.difficulty = difficulty;
  }

  /** How many kinds of glyphs there are. */
  public static int classes() {
    return GLYPHS.size();
  }

  /** Names of the classes. */
  public static List<String> names() {
    return GLYPHS.stream().map(Glyph::name).toList();
  }

  /** What {@link #draw} would give. */
  public Glance glance(int training) {
    return Glance.of(side, side, 1, training);
  }

  /** Draws both parts. */
  public LabelledImages draw(int training, int heldOut) {
    SplittableRandom seeds = new SplittableRandom(seed);
    return new LabelledImages(draw(seeds.nextLong(), training), draw(seeds.nextLong(), heldOut));
  }

  private ImageSet draw(long partSeed, int count) {
    float[] pixels = new float[Math.multiplyExact(count, side * side)];
    int[] labels = new int[count];
    for (int i = 0; i < count; i++) {
      // A generator of its own per image: image i is the same however many are drawn.
      SplittableRandom random = new SplittableRandom(partSeed + i * 0x9e3779b97f4a7c15L);
      labels[i] = random.nextInt(GLYPHS.size());
      draw(GLYPHS.get(labels[i]), random, pixels, i * side * side);
    }
    return new ImageSet(side, side, 1, GLYPHS.size(), pixels, labels);
  }

  private void draw(Glyph glyph, SplittableRandom random, float[] pixels, int offset) {
    Canvas canvas = new Canvas(pixels, offset, side);
    double unit = side / 16.0;
    clutter(canvas, random, unit);
    double angle = difficulty * spread(random, 0.35);
    double shear = difficulty * spread(random, 0.25);
    double scaleX = side * 0.4 * (1 + difficulty * spread(random, 0.25));
    double scaleY = side * 0.4 * (1 + difficulty * spread(random, 0.25));
    double moveX = side / 2.0 + difficulty * spread(random, 1.5 * unit);
    double moveY = side / 2.0 + difficulty * spread(random, 1.5 * unit);
    double radius = unit * (0.75 + difficulty * spread(random, 0.3));
    double brightness = 0.85 + 0.15 * Math.min(1, difficulty) * spread(random, 1);
    double cos = Math.cos(angle);
    double sin = Math.sin(angle);
    for (double[] stroke : glyph.strokes()) {
      double lastX = 0;
      double lastY = 0;
      for (int i = 0; i < stroke.length; i += 2) {
        double sheared = stroke[i] + shear * stroke[i + 1];
        double x = moveX + scaleX * (cos * sheared - sin * stroke[i + 1]);
        double y = moveY + scaleY * (sin * sheared + cos * stroke[i + 1]);
        if (i > 0) {
          canvas.stroke(lastX, lastY, x, y, Math.max(0.2, radius), brightness);
        }
        lastX = x;
        lastY = y;
      }
    }
    float noise = (float) (0.12 * difficulty);
    for (int i = offset; i < offset + side * side; i++) {
      pixels[i] += noise * (float) random.nextGaussian();
    }
  }

  private void clutter(Canvas canvas, SplittableRandom random, double unit) {
    int specks = (int) Math.round(difficulty * random.nextInt(4));
    for (int i = 0; i < specks; i++) {
      double x = random.nextDouble() * side;
      double y = random.nextDouble() * side;
      double dx = spread(random, 3 * unit);
      double dy = spread(random, 3 * unit);
      canvas.stroke(x, y, x + dx, y + dy, 0.5 * unit, 0.35 + 0.35 * random.nextDouble());
    }
  }

  /** Uniform in [-width, width). */
  private static double spread(SplittableRandom random, double width) {
    return width * (2 * random.nextDouble() - 1);
  }
}
