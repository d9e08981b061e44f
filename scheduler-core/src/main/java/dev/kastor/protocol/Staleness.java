package dev.kastor.protocol;

import java.util.List;

/**
 * Staleness of asynchronous updates since the start of the process: how many others came between
 * the reading of the parameters and the update that was computed from them.
 *
 * @param counts updates by staleness, from 0; the last counts all greater ones as well. At most
 *     {@link #MOST_COUNTS}
 */
public record Staleness(List<Long> counts) {
  /** Most entries of a report. */
  public static final int MOST_COUNTS = 64;

  public Staleness {
    Check.between("staleness: counts", counts.size(), 1, MOST_COUNTS);
    for (long count : counts) {
      Check.between("staleness: count", count, 0, Check.MOST_COUNTED);
    }
    counts = List.copyOf(counts);
  }
}
