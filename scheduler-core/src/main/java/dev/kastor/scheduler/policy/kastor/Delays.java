package dev.kastor.scheduler.policy.kastor;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Whom a job delays by the GPU time it takes: itself and those who outlast it.
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
        Comparator.comparingDouble((Bid bid) -> -bid.remaining)
            .thenComparingInt(bid -> -bid.index));
    int[] certain = new int[BINS];
    int[] all = new int[BINS];
    for (Bid bid : order) {
      all[bin(bid.remaining)]++;
      certain[bin(bid.remaining)] += bid.certain ? 1 : 0;
    }
    int longer = 0;
    for (Bid bid : order) {
      double others = 0;
      int own = bin(bid.remaining);
      for (int b = 0; b < BINS; b++) {
        int guessed = bid.certain ? all[b] - certain[b] : all[b] - (b == own ? 1 : 0);
        others += guessed == 0 ? 0 : guessed / (1 + Math.pow(2, (own - b) / BINS_PER_OCTAVE));
      }
      bid.delays = (1 + others + (bid.certain ? longer : 0)) / order.size();
      longer += bid.certain ? 1 : 0;
    }
  }

  private static int bin(double seconds) {
    double octaves = Math.log(Math.max(1, seconds)) / Math.log(2);
    return (int) Math.min(BINS - 1, Math.round(octaves * BINS_PER_OCTAVE));
  }
}
