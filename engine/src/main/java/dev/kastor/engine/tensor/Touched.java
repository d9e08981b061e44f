package dev.kastor.engine.tensor;

/**
 * Rows of a table of parameters that passes over some examples read. The gradient of all its other
 * rows is zero.
 *
 * @param entry number of the table in the layout of the parameters
 * @param rows ascending and apart
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Touched(int entry, int[] rows) {}
