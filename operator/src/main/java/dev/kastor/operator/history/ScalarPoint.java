package dev.kastor.operator.history;

/**
 * Mean of one scalar over the time since the report before.
 *
 * @param epochMillis when the report arrived, Unix time in ms
 * @param step optimizer steps applied by then
 * @param value the mean
 */
public record ScalarPoint(long epochMillis, long step, double value) {}
