package dev.kastor.engine.train;

import dev.kastor.protocol.BatchPlan;
import java.util.Arrays;

/**
 * The order in which examples are trained, the same for every number of replicas.
 *
 * <p>An endless sequence of epochs, each a permutation of all examples that depends on (seed,
 * epoch) only. A step takes the next {@code globalBatchSize} positions from the cursor; replica r's
 * share is contiguous, and so is each pass within it. So a step over any replicas and passes covers
 * exactly {@code [cursor, cursor + globalBatchSize)}, and moving the cursor by that much loses and
 * repeats nothing across changes of size.
 *
 * <p>Results depend on the arguments alone; the shuffles of the last two epochs are cached (4 bytes
 * per example and epoch). One thread owns an instance.
 */
public final class ElasticSampler {
  private final int examples;
  private final long seed;

  private final int[][] cache = new int[2][];
  private final long[] cachedEpoch = {-1, -1};

  /**
   * The examples of one pass.
   *
   * @param positions of the examples in the endless sequence
   * @param examples their numbers in the training set
   */
  @SuppressWarnings("ArrayRecordComponent") // goes straight to Trainable.pass, never compared
  public record Take(long[] positions, int[] examples) {}

  /** A sequence over this many examples, at least 1. */
  public ElasticSampler(int examples, long seed) {
    if (examples < 1) {
      throw new IllegalArgumentException(
          "A training set needs at least 1 example but has %d.".formatted(examples));
    }
    this.examples = examples;
    this.seed = seed;
  }

  /**
   * The examples of one pass of one replica.
   *
   * @param cursor positions taken by all earlier steps
   * @param rank of the replica, in [0, replicas)
   * @param pass of its {@code accumulationSteps + 1} passes, from 0
   */
  public Take take(long cursor, BatchPlan plan, int replicas, int rank, int pass) {
    if (cursor < 0 || rank < 0 || rank >= replicas) {
      throw new IllegalArgumentException(
          "cursor %d, rank %d of %d replicas".formatted(cursor, rank, replicas));
    }
    long first = Math.addExact(cursor, first(plan, rank, pass));
    long[] positions = new long[plan.atomicBatchSize()];
    Arrays.setAll(positions, i -> first + i);
    return take(positions);
  }

  /**
   * The same where a selector chose the examples of one or more steps.
   *
   * @param chosen positions
   * @param from place of the step's first one among them
   */
  public Take take(long[] chosen, int from, BatchPlan plan, int rank, int pass) {
    int first = Math.toIntExact(from + first(plan, rank, pass));
    return take(Arrays.copyOfRange(chosen, first, first + plan.atomicBatchSize()));
  }

  /** The examples at some positions. */
  public Take take(long[] positions) {
    int[] numbers = new int[positions.length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = example(positions[i]);
    }
    return new Take(positions, numbers);
  }

  /** The place of a pass's first example among those of its step. */
  private static long first(BatchPlan plan, int rank, int pass) {
    if (pass < 0 || pass > plan.accumulationSteps()) {
      throw new IllegalArgumentException(
          "pass %d of %d".formatted(pass, plan.accumulationSteps() + 1));
    }
    return plan.atomicBatchSize() * ((long) rank * (plan.accumulationSteps() + 1) + pass);
  }

  /** The example at a position of the endless sequence. */
  public int example(long position) {
    return permutation(position / examples)[(int) (position % examples)];
  }

  /** Full passes over the data that a cursor stands for. */
  public long epoch(long cursor) {
    return cursor / examples;
  }

  /** What the audit must read once every position below {@code cursor} was trained once. */
  public AuditDigest expected(long cursor) {
    AuditDigest digest = AuditDigest.EMPTY;
    for (long first = 0; first < cursor; first += examples) {
      int[] order = permutation(first / examples);
      digest = digest.plus(order, (int) Math.min(examples, cursor - first), first);
    }
    return digest;
  }

  private int[] permutation(long epoch) {
    // Neighbouring epochs share no slot, so a step across their border keeps both.
    int slot = (int) (epoch & 1);
    int[] cached = cache[slot];
    if (cached != null && cachedEpoch[slot] == epoch) {
      return cached;
    }
    int[] order = shuffle(cached == null ? new int[examples] : cached, epoch);
    cache[slot] = order;
    cachedEpoch[slot] = epoch;
    return order;
  }

  /** Fisher-Yates (Knuth, TAOCP volume 2, algorithm 3.4.2P) from a stream keyed by the epoch. */
  private int[] shuffle(int[] order, long epoch) {
    for (int i = 0; i < examples; i++) {
      order[i] = i;
    }
    long state = Mix64.mix(seed ^ Mix64.mix(epoch + Mix64.GAMMA));
    for (int i = examples - 1; i > 0; i--) {
      state += Mix64.GAMMA;
      // Maps 64 random bits to [0, i] by a multiplication; the bias is below 2^-32.
      int j = (int) Math.unsignedMultiplyHigh(Mix64.mix(state), i + 1L);
      int swapped = order[i];
      order[i] = order[j];
      order[j] = swapped;
    }
    return order;
  }
}
