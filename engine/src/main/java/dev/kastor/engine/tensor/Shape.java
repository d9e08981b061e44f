package dev.kastor.engine.tensor;

import java.util.Arrays;

/** The extents of a tensor, outermost first; rank 0 is a scalar. */
public final class Shape {
  private final int[] extents;

  private Shape(int[] extents) {
    this.extents = extents;
  }

  /**
   * A shape of these extents.
   *
   * @throws IllegalArgumentException if an extent is below 1 or the elements exceed an int
   */
  public static Shape of(int... extents) {
    long elements = 1;
    for (int extent : extents) {
      if (extent < 1) {
        throw new IllegalArgumentException(
            "Every extent must be at least 1, got " + Arrays.toString(extents) + ".");
      }
      elements *= extent;
      if (elements > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            "A tensor holds at most 2^31-1 elements, got " + Arrays.toString(extents) + ".");
      }
    }
    return new Shape(extents.clone());
  }

  public int rank() {
    return extents.length;
  }

  /** The extent of an axis; negative axes count from the end. */
  public int extent(int axis) {
    return extents[axis < 0 ? axis + extents.length : axis];
  }

  /** A copy of the extents. */
  public int[] extents() {
    return extents.clone();
  }

  public int elements() {
    return elements(0, extents.length);
  }

  /** The product of the extents of axes {@code [from, to)}. */
  public int elements(int from, int to) {
    int product = 1;
    for (int axis = from; axis < to; axis++) {
      product *= extents[axis];
    }
    return product;
  }

  /** Elements between neighbours along each axis of the dense row-major layout. */
  public int[] strides() {
    int[] strides = new int[extents.length];
    int stride = 1;
    for (int axis = extents.length - 1; axis >= 0; axis--) {
      strides[axis] = stride;
      stride *= extents[axis];
    }
    return strides;
  }

  /** This shape with another extent along one axis; negative axes count from the end. */
  public Shape with(int axis, int extent) {
    int[] changed = extents.clone();
    changed[axis < 0 ? axis + extents.length : axis] = extent;
    return of(changed);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Shape shape && Arrays.equals(extents, shape.extents);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(extents);
  }

  @Override
  public String toString() {
    return Arrays.toString(extents);
  }
}
