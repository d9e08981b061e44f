package dev.kastor.agent.trainer;

import dev.kastor.agent.ring.RingBrokenException;
import dev.kastor.engine.train.AuditDigest;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.BatchPlan;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Losses of examples that a selector asks for in a step: replicas look at shares of the same length
 * and gather what they saw, so that all have the same bits.
 *
 * <p>A look takes half as many examples on each replica as a pass. One thread uses it.
 */
final class Looks implements ExampleSelector.Losses {
  private final Optional<Trainable.ExampleLosses> model;
  private final ElasticSampler sampler;
  private final long cursor;
  private final int share;
  private final int replicas;
  private final int rank;
  private final Gather gather;

  /** Our shares of the looks so far. */
  private final List<ElasticSampler.Take> own = new ArrayList<>();

  /** First positions of these looks. */
  private final List<Long> firsts = new ArrayList<>();

  /** Of the last look: losses of all shares, and the position of the first of them. */
  private float[] losses = {};

  private long first;
  private long nanos;

  /**
   * Looks of a step.
   *
   * @param cursor first position of the step
   */
  Looks(
      Optional<Trainable.ExampleLosses> model,
      ElasticSampler sampler,
      long cursor,
      BatchPlan plan,
      int replicas,
      int rank,
      Gather gather) {
    this.model = model;
    this.sampler = sampler;
    this.cursor = cursor;
    this.share = share(plan.atomicBatchSize());
    this.replicas = replicas;
    this.rank = rank;
    this.gather = gather;
    this.first = cursor;
  }

  /** Bytes of all replicas in the order of ranks. */
  @FunctionalInterface
  interface Gather {
    /** Gives ours, as many as every other replica does. */
    List<byte[]> all(byte[] own) throws RingBrokenException;
  }

  /** Examples of one replica in a look. */
  static int share(int atomicBatchSize) {
    return Math.max(1, atomicBatchSize / 2);
  }

  @Override
  public float at(long position) throws RingBrokenException {
    if (position < first) {
      throw new IllegalArgumentException(
          "position %d was asked for after %d, but positions ascend".formatted(position, first));
    }
    if (position >= first + losses.length) {
      look(position);
    }
    return losses[(int) (position - first)];
  }

  private void look(long from) throws RingBrokenException {
    Trainable.ExampleLosses reader =
        model.orElseThrow(() ->
            new IllegalStateException(
                "the selector of examples asks for losses and says that it uses none"));
    long start = System.nanoTime();
    long[] positions = new long[share];
    Arrays.setAll(positions, i -> from + (long) rank * share + i);
    ElasticSampler.Take take = sampler.take(positions);
    float[] seen = new float[share];
    reader.read(take.examples(), seen);
    nanos += System.nanoTime() - start;
    ByteBuffer bytes = ByteBuffer.allocate(share * Float.BYTES);
    bytes.asFloatBuffer().put(seen);
    float[] all = new float[Math.multiplyExact(share, replicas)];
    int at = 0;
    for (byte[] each : gather.all(bytes.array())) {
      if (each.length != bytes.capacity()) {
        throw new RingBrokenException(
            "a replica gave %d bytes of losses instead of %d"
                .formatted(each.length, bytes.capacity()));
      }
      ByteBuffer.wrap(each).asFloatBuffer().get(all, at, share);
      at += share;
    }
    own.add(take);
    firsts.add(from);
    losses = all;
    first = from;
  }

  /** Time that our own looks took. */
  double seconds() {
    return nanos * 1e-9;
  }

  /**
   * Evidence of what we judged: those positions before the new cursor that we looked at, and our
   * part of those that nobody had to look at. That of all replicas has each position once.
   */
  AuditDigest judged(long newCursor) {
    AuditDigest digest = AuditDigest.EMPTY;
    long next = cursor;
    for (int i = 0; i < own.size(); i++) {
      digest = digest.plus(unseen(next, firsts.get(i)));
      digest = digest.plus(AuditDigest.of(before(own.get(i), newCursor)));
      next = firsts.get(i) + (long) share * replicas;
    }
    return digest.plus(unseen(next, newCursor));
  }

  private AuditDigest unseen(long from, long to) {
    long[] ours =
        new long[Math.toIntExact(Math.max(0, (to - from - rank + replicas - 1) / replicas))];
    Arrays.setAll(ours, i -> from + rank + (long) i * replicas);
    return AuditDigest.of(sampler.take(ours));
  }

  /** The part of a look that counts: what is behind the cursor is looked at again. */
  private static ElasticSampler.Take before(ElasticSampler.Take take, long cursor) {
    long[] positions = take.positions();
    int length = Math.clamp(cursor - positions[0], 0, positions.length);
    return new ElasticSampler.Take(
        Arrays.copyOf(positions, length), Arrays.copyOf(take.examples(), length));
  }
}
