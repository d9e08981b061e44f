package dev.kastor.simulator.bench;

import java.util.Arrays;

/**
 * Milliseconds of several measurements.
 *
 * @param mean of all
 * @param p99 the least that 99 % of them do not exceed, so the longest of fewer than a hundred
 * @param max the longest
 */
public record Spread(double mean, double p99, double max) {
  static Spread of(double[] millis) {
    double[] sorted = millis.clone();
    Arrays.sort(sorted);
    return new Spread(
        Arrays.stream(sorted).average().orElseThrow(),
        sorted[Math.ceilDiv(99 * sorted.length, 100) - 1],
        sorted[sorted.length - 1]);
  }
}
