package dev.kastor.engine.train;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Port of a collective to the other members of a generation.
 *
 * <p>Every member calls the same operations in the same order. All connections are authenticated
 * and, where the job's are, encrypted. Whatever fails ends the generation: all of its connections
 * close, which the other members notice.
 */
public interface CollectivePort {
  /** Our rank. */
  int rank();

  /** Number of members, at least 2. */
  int size();

  /** Name of the node of each member, in rank order. */
  List<String> nodes();

  /** Time after which what all members have come to is given up. */
  Duration limit();

  /**
   * Every member's bytes in rank order, on every member.
   *
   * @param own at most 4096 bytes
   */
  List<byte[]> allGather(byte[] own) throws IOException;

  /** Sums over the ring of all members, the default of all jobs. */
  Collective.Sums ring();

  /**
   * Opens rings of some members each.
   *
   * @param groups ranks of each group in the order of its ring, the same list on all members; no
   *     two groups may have two members as neighbours in the same order
   * @return our part in each group, in the same order; empty in those that we do not belong to
   */
  List<Optional<Group>> open(List<List<Integer>> groups) throws IOException;

  /**
   * Our part in the ring of some members, which sends to the next one and receives from the last.
   */
  interface Group {
    /** Our place in the group, from 0. */
    int rank();

    /** Number of its members. */
    int size();

    /**
     * Sums a vector over the group, of which each member gets one segment: member {@code i} the
     * elements from {@code bounds[i]} to {@code bounds[i + 1]}. Elements of other segments hold
     * partial sums then.
     *
     * @param bounds in ascending order, one more than members, the same on all; segments may be
     *     empty
     */
    void reduceScatter(float[] data, int[] bounds) throws IOException;

    /** Gives each member's segment to all members of the group. */
    void allGather(float[] data, int[] bounds) throws IOException;

    /** Replaces the elements {@code [from, to)} by their sums over the group. */
    void allReduce(float[] data, int from, int to) throws IOException;
  }
}
