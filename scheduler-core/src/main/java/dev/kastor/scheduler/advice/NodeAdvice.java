package dev.kastor.scheduler.advice;

import dev.kastor.scheduler.model.Reason;

/**
 * How many nodes of a GPU type there should be.
 *
 * @param gpuType the type
 * @param nodes how many there are
 * @param advised how many there should be
 * @param utility mean of what the nodes were worth over what they cost, in about [0, 1]
 * @param expectedUtility the same for the advised nodes, if slots go where they gain most
 * @param reason why, with all numbers that decided it
 */
public record NodeAdvice(
    String gpuType, int nodes, int advised, double utility, double expectedUtility, Reason reason) {
  /** Whether anything should change. */
  public boolean changes() {
    return nodes != advised;
  }
}
