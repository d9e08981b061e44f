package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.protocol.Switch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * State of a member for its comparison with the others, before they train and while they do.
 *
 * @param lineage the last generation in which it agreed with all members, or {@link #FROM_START}
 *     for a state of its own making (fresh or from a checkpoint), or {@link #NONE} without state
 * @param step of its state
 * @param digest of its state
 * @param replicasBefore members of the generation it last trained in; 0 before its first
 * @param broken whether a ring broke since its last step
 * @param pauseSeconds since its last step, or since it learned that it should start
 * @param differences comparisons in a row in which states differed that should be equal
 */
record JoinHeader(
    long lineage,
    long step,
    long digest,
    int replicasBefore,
    boolean broken,
    double pauseSeconds,
    int differences) {
  /** No state. */
  static final long NONE = -1;

  /** A state that no generation has shared yet. */
  static final long FROM_START = 0;

  private static final int BYTES = 3 * Long.BYTES + 2 * Integer.BYTES + 1 + Double.BYTES;

  byte[] encode() {
    return ByteBuffer.allocate(BYTES)
        .putLong(lineage)
        .putLong(step)
        .putLong(digest)
        .putInt(replicasBefore)
        .put((byte) (broken ? 1 : 0))
        .putDouble(pauseSeconds)
        .putInt(differences)
        .array();
  }

  static List<JoinHeader> decodeAll(List<byte[]> gathered) throws RingBrokenException {
    List<JoinHeader> headers = new ArrayList<>();
    for (byte[] bytes : gathered) {
      if (bytes.length != BYTES) {
        throw new RingBrokenException("a join header has %d bytes".formatted(bytes.length));
      }
      ByteBuffer in = ByteBuffer.wrap(bytes);
      headers.add(
          new JoinHeader(
              in.getLong(),
              in.getLong(),
              in.getLong(),
              in.getInt(),
              in.get() != 0,
              in.getDouble(),
              in.getInt()));
    }
    return headers;
  }

  boolean hasState() {
    return lineage != NONE;
  }

  /** Whether both hold the same state. */
  boolean sameStateAs(JoinHeader other) {
    return hasState() && other.hasState() && step == other.step && digest == other.digest;
  }

  /**
   * Whether both should hold the same state: they agreed in the same generation and applied as many
   * steps since. What was made before any generation may differ.
   */
  boolean shouldEqual(JoinHeader other) {
    return lineage > FROM_START && lineage == other.lineage && step == other.step;
  }

  /** Whether a member differs from the best state and should not. */
  static boolean isDrift(List<JoinHeader> all) {
    JoinHeader best = best(all);
    return all.stream().anyMatch(each -> each.shouldEqual(best) && !each.sameStateAs(best));
  }

  /**
   * The state that all members shall have: of the youngest lineage, as an older one may have been
   * redone differently since, then of the highest step, then of the lowest rank.
   */
  static JoinHeader best(List<JoinHeader> all) {
    JoinHeader best = all.getFirst();
    for (JoinHeader each : all) {
      if (each.lineage > best.lineage || (each.lineage == best.lineage && each.step > best.step)) {
        best = each;
      }
    }
    return best;
  }

  /** How the change is reported, as seen from all members together. */
  static Switch report(List<JoinHeader> all, long generation) {
    int before = 0;
    boolean broken = false;
    for (JoinHeader each : all) {
      before = Math.max(before, each.replicasBefore);
      broken |= each.replicasBefore > 0 && each.broken;
    }
    double pause = 0;
    for (JoinHeader each : all) {
      if (before == 0 || each.replicasBefore > 0) {
        pause = Math.max(pause, each.pauseSeconds);
      }
    }
    Switch.Cause cause =
        before == 0 ? Switch.Cause.START : broken ? Switch.Cause.FAILURE : Switch.Cause.RESCALE;
    return new Switch(generation, before, all.size(), cause, pause);
  }
}
