package dev.kastor.scheduler.policy.kastor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Whom a job delays by the GPU time it takes: itself and those who outlast it. Times are divided by
 * weights, and jobs count by their weights, as in the rule of Smith (Naval Research Logistics
 * Quarterly 1956) for weighted completion times.
 *
 * <p>Where the work of both is known, the longer outlasts the shorter. Where it is a guess, job
 * {@code k} outlasts {@code i} with probability {@code T_k / (T_i + T_k)}, {@code T} being the
 * expected times left: that of two exponential ones. Times are put into {@value #BINS} bins, so
 * that thousands of jobs cost no square of their number.
 */
final class Delays {
  private static final int BINS = 160;
  private static final double BINS_PER_OCTAVE = 4;

  private Delays() {}

  /** Sets the share of all jobs that each delays. */
  static void set(List<Bid> bids) {
    List<Bid> order = new ArrayList<>(bids);
    order.sort(
        Comparator.comparingDouble((Bid bid) -> -time(bid)).thenComparingInt(bid -> -bid.index));
    double[] certain = new double[BINS];
    double[] all = new double[BINS];
    double total = 0;
    for (Bid bid : order) {
      all[bin(bid)] += bid.weight;
      certain[bin(bid)] += bid.certain ? bid.weight : 0;
      total += bid.weight;
    }
    double longer = 0;
    for (Bid bid : order) {
      double others = 0;
      int own = bin(bid);
      for (int b = 0; b < BINS; b++) {
        double guessed = all[b] - (bid.certain ? certain[b] : b == own ? bid.weight : 0);
        others += guessed <= 0 ? 0 : guessed / (1 + Math.pow(2, (own - b) / BINS_PER_OCTAVE));
      }
      bid.delays = Math.min(1, (bid.weight + others + (bid.certain ? longer : 0)) / total);
      longer += bid.certain ? bid.weight : 0;
    }
  }

  private static double time(Bid bid) {
    return bid.remaining / bid.weight;
  }

  private static int bin(Bid bid) {
    double seconds = time(bid);
    double octaves = Math.log(Math.max(1, seconds)) / Math.log(2);
    return (int) Math.min(BINS - 1, Math.round(octaves * BINS_PER_OCTAVE));
  }
}
