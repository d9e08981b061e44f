package dev.kastor.engine.backend.cuda;

/**
 * A cross-correlation by its definition: the sum of products of an element of the image and one of
 * the filter, and the gradients are the same sum with two of the three exchanged.
 *
 * <p>The image is {@code [n, h, w, c]}, the filter {@code [o, kh, kw, c]}, the result {@code [n,
 * rows, columns, o]}.
 */
record PlainConvolution(
    int n,
    int h,
    int w,
    int c,
    int o,
    int kh,
    int kw,
    int rows,
    int columns,
    int stride,
    int padding) {
  static PlainConvolution of(Correlation correlation) {
    return new PlainConvolution(
        correlation.image().extent(0),
        correlation.image().extent(1),
        correlation.image().extent(2),
        correlation.image().extent(3),
        correlation.filter().extent(0),
        correlation.filter().extent(1),
        correlation.filter().extent(2),
        correlation.result().extent(1),
        correlation.result().extent(2),
        correlation.stride(),
        correlation.padding());
  }

  private interface Terms {
    void add(int image, int filter, int result);
  }

  private void terms(Terms terms) {
    for (int example = 0; example < n; example++) {
      for (int row = 0; row < rows * columns; row++) {
        for (int down = 0; down < kh; down++) {
          for (int right = 0; right < kw; right++) {
            int y = row / columns * stride + down - padding;
            int x = row % columns * stride + right - padding;
            if (y >= 0 && y < h && x >= 0 && x < w) {
              pixel(terms, (example * h + y) * w + x, down * kw + right, example, row);
            }
          }
        }
      }
    }
  }

  private void pixel(Terms terms, int pixel, int place, int example, int row) {
    for (int output = 0; output < o; output++) {
      for (int channel = 0; channel < c; channel++) {
        terms.add(
            pixel * c + channel,
            (output * kh * kw + place) * c + channel,
            (example * rows * columns + row) * o + output);
      }
    }
  }

  int imageElements() {
    return n * h * w * c;
  }

  int filterElements() {
    return o * kh * kw * c;
  }

  int resultElements() {
    return n * rows * columns * o;
  }

  /** Elements of the first operand, the second and what is computed, in a library's order. */
  int[] elements(Correlation.Wanted wanted) {
    return switch (wanted) {
      case RESULT -> new int[] {imageElements(), filterElements(), resultElements()};
      case IMAGE -> new int[] {filterElements(), resultElements(), imageElements()};
      case FILTER -> new int[] {imageElements(), resultElements(), filterElements()};
    };
  }

  /** What is wanted, from the operands in a library's order. */
  float[] compute(Correlation.Wanted wanted, float[] first, float[] second) {
    double[] sums = new double[elements(wanted)[2]];
    switch (wanted) {
      case RESULT ->
          terms((image, filter, result) -> sums[result] += (double) first[image] * second[filter]);
      case IMAGE ->
          terms((image, filter, result) -> sums[image] += (double) first[filter] * second[result]);
      case FILTER ->
          terms((image, filter, result) -> sums[filter] += (double) first[image] * second[result]);
    }
    float[] rounded = new float[sums.length];
    for (int i = 0; i < sums.length; i++) {
      rounded[i] = (float) sums[i];
    }
    return rounded;
  }
}
