package dev.kastor.engine.graph;

import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;

/** Shape and element type of a node. */
public record Type(Shape shape, DType dtype) {
  /** A type of 32-bit floats. */
  public static Type f32(int... extents) {
    return new Type(Shape.of(extents), DType.F32);
  }

  /** A type of 32-bit floats. */
  public static Type f32(Shape shape) {
    return new Type(shape, DType.F32);
  }

  @Override
  public String toString() {
    return (dtype == DType.F32 ? "" : dtype.toString()) + shape;
  }
}
