// Drawings as strokes, polylines x0, y0, x1, y1, .. in the unit square with y pointing down, and their pixels.

const SEGMENTS_OF_RING = 20;
const SEGMENTS_OF_SPIRAL = 28;
const SEGMENTS_OF_WAVE = 16;

/** As the training images of glyphs have it on average, for a side of 16 pixels. */
const RADIUS = 0.75 / 16;
const BRIGHTNESS = 0.85;

const turn = (step, steps) => (2 * Math.PI * step) / steps;
const curve = (steps, x, y) => Array.from({ length: steps + 1 }, (_, i) => [x(i), y(i)]).flat();

/** The glyphs of the programs glyph-*, as the engine draws them: class Glyph, in [-1, 1]. */
const GLYPHS = {
  ring: [curve(SEGMENTS_OF_RING, (t) => 0.8 * Math.cos(turn(t, SEGMENTS_OF_RING)), (t) => 0.8 * Math.sin(turn(t, SEGMENTS_OF_RING)))],
  cross: [[-0.7, -0.7, 0.7, 0.7], [-0.7, 0.7, 0.7, -0.7]],
  plus: [[0, -0.85, 0, 0.85], [-0.85, 0, 0.85, 0]],
  triangle: [[0, -0.8, 0.8, 0.65, -0.8, 0.65, 0, -0.8]],
  square: [[-0.7, -0.7, 0.7, -0.7, 0.7, 0.7, -0.7, 0.7, -0.7, -0.7]],
  hourglass: [[-0.65, -0.8, 0.65, -0.8, -0.65, 0.8, 0.65, 0.8, -0.65, -0.8]],
  zigzag: [[-0.85, -0.6, -0.4, 0.6, 0, -0.6, 0.4, 0.6, 0.85, -0.6]],
  spiral: [curve(
    SEGMENTS_OF_SPIRAL,
    (t) => (0.1 + (0.75 * t) / SEGMENTS_OF_SPIRAL) * Math.cos(2 * turn(t, SEGMENTS_OF_SPIRAL)),
    (t) => (0.1 + (0.75 * t) / SEGMENTS_OF_SPIRAL) * Math.sin(2 * turn(t, SEGMENTS_OF_SPIRAL)),
  )],
  arrow: [[0, 0.85, 0, -0.85], [-0.55, -0.3, 0, -0.85, 0.55, -0.3]],
  wave: [curve(SEGMENTS_OF_WAVE, (t) => -0.85 + (1.7 * t) / SEGMENTS_OF_WAVE, (t) => 0.45 * Math.sin(turn(t, SEGMENTS_OF_WAVE)))],
  fork: [[0, 0.85, 0, 0], [-0.65, -0.8, 0, 0, 0.65, -0.8]],
  bars: [[-0.75, -0.6, 0.75, -0.6], [-0.75, 0, 0.75, 0], [-0.75, 0.6, 0.75, 0.6]],
};

export const SAMPLES = Object.keys(GLYPHS);

/** The strokes of a sample. */
export const sample = (name) => GLYPHS[name].map((stroke) => stroke.map((at) => 0.5 + 0.4 * at));

/** How thick strokes are in pixels of an image. */
export const thickness = (height, width) => 2 * RADIUS * Math.min(height, width);

/**
 * Pixels from 0 to 1 of strokes with round ends, as the engine's Canvas draws them: a pixel's coverage falls from 1 to 0
 * over one pixel around the border, and where strokes overlap the brighter counts.
 */
export function pixelsOf(strokes, height, width) {
  const pixels = new Float32Array(height * width);
  const reach = thickness(height, width) / 2 + 0.5;
  for (const stroke of strokes) {
    for (let i = 0; i + 1 < stroke.length; i += 2) {
      // A stroke of one point is a dot.
      const from = Math.max(0, i - 2);
      line(pixels, height, width, stroke[from] * width, stroke[from + 1] * height, stroke[i] * width, stroke[i + 1] * height, reach);
    }
  }
  return pixels;
}

function line(pixels, height, width, x0, y0, x1, y1, reach) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const squaredLength = dx * dx + dy * dy;
  const clamp = (value) => Math.min(1, Math.max(0, value));
  for (let y = Math.max(0, Math.floor(Math.min(y0, y1) - reach)); y <= Math.min(height - 1, Math.ceil(Math.max(y0, y1) + reach)); y++) {
    for (let x = Math.max(0, Math.floor(Math.min(x0, x1) - reach)); x <= Math.min(width - 1, Math.ceil(Math.max(x0, x1) + reach)); x++) {
      const [px, py] = [x + 0.5 - x0, y + 0.5 - y0];
      const along = squaredLength > 0 ? clamp((px * dx + py * dy) / squaredLength) : 0;
      const distance = Math.hypot(px - along * dx, py - along * dy);
      pixels[y * width + x] = Math.max(pixels[y * width + x], BRIGHTNESS * clamp(reach - distance));
    }
  }
}
