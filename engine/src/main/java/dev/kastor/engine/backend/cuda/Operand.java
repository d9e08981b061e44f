package dev.kastor.engine.backend.cuda;

/**
 * One side of a product: which element lies in a row (of the left side) or column (of the right
 * one) at a place of the axis that is summed over.
 */
interface Operand {
  /**
   * Instructions that need the row or column alone.
   *
   * @param position registers with the row or column, and with the matrix of a batch
   */
  Line line(String batch, String position);

  /** Whether places of the summed axis lie next to each other, and not rows or columns. */
  boolean depthFirst();

  /** A row or column. */
  @FunctionalInterface
  interface Line {
    /**
     * A register with the element, 0 where there is none.
     *
     * @param depth register with the place on the summed axis
     * @param inside register that says whether row or column, and the place, exist
     */
    String at(String depth, String inside);
  }
}
