package dev.kastor.engine.saving;

import dev.kastor.engine.resource.Variable;
import dev.kastor.engine.tensor.Shape;

/**
 * Rows of a tensor that one variable holds.
 *
 * @param tensor the name of the whole, the same whoever holds which of its rows
 * @param variable has row {@code first + i * every} as its row {@code i}
 * @param first the number of its first row
 * @param every the distance between its rows
 * @param place where the variable is; empty for anywhere
 */
public record Piece(String tensor, Variable variable, int first, int every, String place) {
  public Piece {
    if (tensor.isEmpty() || first < 0 || every < 1) {
      throw new IllegalArgumentException(
          "A piece of '%s' cannot begin at row %d with every %d. row."
              .formatted(tensor, first, every));
    }
  }

  /** A variable that is a tensor of its own. */
  public static Piece whole(String tensor, Variable variable, String place) {
    return new Piece(tensor, variable, 0, 1, place);
  }

  /** How many rows it has: extents of the first axis, and 1 of a scalar. */
  int rows() {
    Shape shape = variable.type().shape();
    return shape.rank() == 0 ? 1 : shape.extent(0);
  }

  /** Bytes of one row. */
  int rowBytes() {
    return variable.type().shape().elements() / rows() * Float.BYTES;
  }
}
