package dev.kastor.operator.telemetry;

import java.util.List;

/**
 * Updates that the parameter servers of a job took in since this operator first heard of the
 * process that counts them, or a part of these.
 *
 * @param byStaleness asynchronous updates by how many others came between the reading of the
 *     parameters and the update, from 0; the last counts all greater ones as well. Empty where
 *     steps are synchronous
 * @param droppedCopies shares of a step that came after a copy of the same share
 */
public record UpdateCounts(List<Long> byStaleness, long droppedCopies) {
  /** No update. */
  public static final UpdateCounts NONE = new UpdateCounts(List.of(), 0);

  public UpdateCounts {
    byStaleness = List.copyOf(byStaleness);
  }
}
