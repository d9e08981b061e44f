package dev.kastor.cli.metrics;

/**
 * Value of one series at one time.
 *
 * @param name of the series: what the script called it, {@code loss}, or {@code kastor/…}
 * @param epochMillis Unix time in ms
 * @param step optimizer steps applied by then
 * @param value finite
 */
record Point(String name, long epochMillis, long step, double value) {}
