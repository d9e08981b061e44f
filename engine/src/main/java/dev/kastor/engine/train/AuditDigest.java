package dev.kastor.engine.train;

/**
 * Order-free evidence of which examples were trained at which positions.
 *
 * <p>Each (position, example) pair is mixed to 64 bits and the results are summed modulo 2^64: the
 * sum is exact, takes any grouping over replicas and passes, and changes with near certainty (a
 * chance of 2^-64) when a pair is lost, repeated or replaced.
 *
 * @param count pairs
 * @param sum of their mixes
 */
public record AuditDigest(long count, long sum) {
  /** Nothing trained. */
  public static final AuditDigest EMPTY = new AuditDigest(0, 0);

  /** The evidence of a pass. */
  public static AuditDigest of(ElasticSampler.Take take) {
    long total = 0;
    for (int i = 0; i < take.examples().length; i++) {
      total += pair(take.positions()[i], take.examples()[i]);
    }
    return new AuditDigest(take.examples().length, total);
  }

  /** Both together. */
  public AuditDigest plus(AuditDigest other) {
    return new AuditDigest(count + other.count, sum + other.sum);
  }

  AuditDigest plus(int[] examples, int length, long firstPosition) {
    long total = sum;
    for (int i = 0; i < length; i++) {
      total += pair(firstPosition + i, examples[i]);
    }
    return new AuditDigest(count + length, total);
  }

  /**
   * Examples lost or repeated; 0 where the evidence agrees with what is expected.
   *
   * <p>The counts tell how many more or fewer; where they agree and the sums do not, at least one
   * example was lost and one repeated, which counts as 2.
   */
  public long lostOrRepeated(AuditDigest expected) {
    long difference = Math.abs(count - expected.count);
    return difference == 0 && sum != expected.sum ? 2 : difference;
  }

  /** Mixes twice, so that no two pairs collide by a simple relation between their fields. */
  private static long pair(long position, int example) {
    return Mix64.mix(Mix64.mix(position + Mix64.GAMMA) + (example + 1L) * Mix64.GAMMA);
  }
}
