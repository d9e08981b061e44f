package dev.kastor.engine.data;

/** Draws anti-aliased strokes into a square single-channel image inside a larger array. */
final class Canvas {
  private final float[] pixels;
  private final int offset;
  private final int side;

  Canvas(float[] pixels, int offset, int side) {
    this.pixels = pixels;
    this.offset = offset;
    this.side = side;
  }

  /**
   * Draws a straight stroke with round ends; where strokes overlap the brighter wins.
   *
   * <p>Coverage of a pixel falls linearly from 1 to 0 over one pixel around the stroke's border,
   * measured from the pixel's centre.
   *
   * @param radius half the thickness in pixels
   */
  void stroke(double x0, double y0, double x1, double y1, double radius, double brightness) {
    double reach = radius + 0.5;
    int left = (int) Math.max(0, Math.floor(Math.min(x0, x1) - reach));
    int right = (int) Math.min(side - 1.0, Math.ceil(Math.max(x0, x1) + reach));
    int top = (int) Math.max(0, Math.floor(Math.min(y0, y1) - reach));
    int bottom = (int) Math.min(side - 1.0, Math.ceil(Math.max(y0, y1) + reach));
    double dx = x1 - x0;
    double dy = y1 - y0;
    double squaredLength = dx * dx + dy * dy;
    for (int y = top; y <= bottom; y++) {
      for (int x = left; x <= right; x++) {
        double px = x + 0.5 - x0;
        double py = y + 0.5 - y0;
        double along = squaredLength > 0 ? (px * dx + py * dy) / squaredLength : 0;
        along = Math.clamp(along, 0, 1);
        double ox = px - along * dx;
        double oy = py - along * dy;
        double distance = Math.sqrt(ox * ox + oy * oy);
        float value = (float) (brightness * Math.clamp(reach - distance, 0, 1));
        int at = offset + y * side + x;
        pixels[at] = Math.max(pixels[at], value);
      }
    }
  }
}
