package dev.kastor.paper;

import java.util.List;

/** Measurement of a paper's claims on this machine, in at most ten minutes on two cores. */
@FunctionalInterface
public interface Reproduction {
  /**
   * Measures.
   *
   * @return a figure for each claim that has a threshold, in the order of the claims
   * @throws PaperException if something is missing; the message says what
   */
  List<Measured> measure(Trial trial) throws PaperException, InterruptedException;
}
