package dev.kastor.engine.nn;

/**
 * Examples for one pass; the arrays are not copied.
 *
 * @param examples how many
 * @param features {@code [examples, ..]} flat, as {@link Network#example} says; tokens as whole
 *     floats
 * @param targets {@code [examples, positions]} flat: a class each
 */
@SuppressWarnings("ArrayRecordComponent") // a view of the caller's buffers, never compared
public record Batch(int examples, float[] features, int[] targets) {}
