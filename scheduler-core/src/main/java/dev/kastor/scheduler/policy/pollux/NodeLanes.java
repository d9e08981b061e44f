package dev.kastor.scheduler.policy.pollux;

/**
 * Counts by node, packed into lanes of 64-bit words, so that one machine instruction treats up to
 * 16 nodes.
 *
 * <p>The top bit of each lane stays clear: it takes the carries and borrows of lane-wise arithmetic
 * (Lamport, Multiple byte processing with full-word instructions, CACM 1975). A lane's <i>flag</i>
 * is its lowest bit. Immutable.
 */
final class NodeLanes {
  /** Words that hold one row: a count for each node. */
  final int words;

  private final int nodes;
  private final int bits;

  /** Logarithms to base 2 of {@link #bits} and of the nodes of a word. */
  private final int logBits;

  private final int logNodes;
  private final long lane;
  private final long flags;
  private final long tops;
  private final long evenLanes;
  private final long evenFlags;

  /** Lanes for that many nodes, the widest of which holds {@code mostSlots}. */
  NodeLanes(int nodes, int mostSlots) {
    this.nodes = nodes;
    int width = 4;
    while (mostSlots >= 1L << (width - 1)) {
      width *= 2;
    }
    bits = width;
    logBits = Integer.numberOfTrailingZeros(bits);
    logNodes = Integer.numberOfTrailingZeros(Long.SIZE / bits);
    words = Math.ceilDiv(nodes, 1 << logNodes);
    lane = (1L << bits) - 1;
    flags = Long.divideUnsigned(-1, lane);
    tops = flags << (bits - 1);
    evenFlags = 2 * bits == Long.SIZE ? 1 : Long.divideUnsigned(-1, (1L << (2 * bits)) - 1);
    evenLanes = evenFlags * lane;
  }

  /** The flag of each lane that is not 0. */
  long nonzero(long word) {
    return ((word + (tops - flags)) & tops) >>> (bits - 1);
  }

  /** All bits of each lane whose flag is set. */
  long full(long laneFlags) {
    return (laneFlags << bits) - laneFlags;
  }

  /** The smaller of two, lane by lane. */
  long min(long a, long b) {
    long atLeast = (((a | tops) - b) & tops) >>> (bits - 1);
    return a ^ ((a ^ b) & full(atLeast));
  }

  /** All lanes of a word together. */
  int sum(long word) {
    long pairs = (word & evenLanes) + ((word >>> bits) & evenLanes);
    return (int) ((pairs * evenFlags) >>> (Long.SIZE - 2 * bits));
  }

  /** Which word of a row holds a node. */
  int word(int node) {
    return node >> logNodes;
  }

  /** By how much its word must be shifted right to bring a node's lane to the bottom. */
  int shift(int node) {
    return (node << logBits) & (Long.SIZE - 1);
  }

  /** The lane at the bottom of a shifted word. */
  int bottom(long shifted) {
    return (int) (shifted & lane);
  }

  /** A word that holds {@code count} in one lane. */
  long at(int shift, int count) {
    return (long) count << shift;
  }

  /** The node whose lane in the {@code w}-th word has its flag at a bit. */
  int node(int w, int flagBit) {
    return (w << logNodes) + (flagBit >> logBits);
  }

  /** Packs one row of counts; a count too large for its lane becomes the largest that fits. */
  void pack(int[] counts, int from, long[] packed, int to) {
    for (int w = 0; w < words; w++) {
      packed[to + w] = 0;
    }
    for (int n = 0; n < nodes; n++) {
      int count = (int) Math.min(counts[from + n], lane >>> 1);
      packed[to + word(n)] |= at(shift(n), count);
    }
  }

  /** The reverse of {@link #pack}. */
  void unpack(long[] packed, int from, int[] counts, int to) {
    for (int n = 0; n < nodes; n++) {
      counts[to + n] = bottom(packed[from + word(n)] >>> shift(n));
    }
  }
}
