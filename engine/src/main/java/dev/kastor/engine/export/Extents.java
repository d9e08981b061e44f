package dev.kastor.engine.export;

import dev.kastor.engine.tensor.Shape;
import java.util.Arrays;
import java.util.List;

/**
 * Extents of a value for any number of examples, found by comparing its shapes in graphs of two
 * numbers: those that are equal in both are fixed, the others multiples of the number of examples.
 *
 * @param fixed the extent, or where it depends on the number of examples, the multiple of that
 * @param grows whether it does
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Extents(long[] fixed, boolean[] grows) {
  /**
   * Compares two shapes.
   *
   * @param few examples of the first
   * @param many examples of the second
   * @throws ExportException if an extent depends on the number of examples in another way
   */
  static Extents of(Shape first, Shape second, int few, int many) throws ExportException {
    if (first.rank() != second.rank()) {
      throw new ExportException(
          "its network has a value of shape %s for %d examples and %s for %d"
              .formatted(first, few, second, many));
    }
    long[] fixed = new long[first.rank()];
    boolean[] grows = new boolean[first.rank()];
    for (int axis = 0; axis < fixed.length; axis++) {
      long a = first.extent(axis);
      long b = second.extent(axis);
      if (a != b && (a % few != 0 || a / few * many != b)) {
        throw new ExportException(
            "its network has a value of shape %s for %d examples and %s for %d, which is no fixed multiple"
                .formatted(first, few, second, many));
      }
      grows[axis] = a != b;
      fixed[axis] = grows[axis] ? a / few : a;
    }
    return new Extents(fixed, grows);
  }

  int rank() {
    return fixed.length;
  }

  /** How many extents depend on the number of examples. */
  int growing() {
    int count = 0;
    for (boolean each : grows) {
      count += each ? 1 : 0;
    }
    return count;
  }

  /**
   * For a reshape: the extents, with -1 for the only one that depends on the number of examples.
   */
  long[] asReshape() {
    long[] extents = fixed.clone();
    for (int axis = 0; axis < extents.length; axis++) {
      if (grows[axis]) {
        extents[axis] = -1;
      }
    }
    return extents;
  }

  /** Whether values of some extents, repeated as NumPy does, have these together. */
  boolean isCommon(List<Extents> values) {
    for (int axis = 0; axis < rank(); axis++) {
      boolean reached = false;
      for (Extents value : values) {
        int own = axis - rank() + value.rank();
        boolean same = own >= 0 && value.is(own, this, axis);
        if (own >= 0 && !same && !value.isOne(own)) {
          return false;
        }
        reached |= same;
      }
      if (!reached) {
        return false;
      }
    }
    return values.stream().allMatch(value -> value.rank() <= rank());
  }

  /** Whether other extents are these behind some of 1. */
  boolean isEndOf(Extents other) {
    int more = other.rank() - rank();
    for (int axis = 0; axis < other.rank(); axis++) {
      if (axis < more ? !other.isOne(axis) : !is(axis - more, other, axis)) {
        return false;
      }
    }
    return more >= 0;
  }

  private boolean is(int axis, Extents other, int otherAxis) {
    return fixed[axis] == other.fixed[otherAxis] && grows[axis] == other.grows[otherAxis];
  }

  private boolean isOne(int axis) {
    return fixed[axis] == 1 && !grows[axis];
  }

  @Override
  public String toString() {
    return Arrays.toString(asReshape());
  }
}
