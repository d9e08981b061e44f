package dev.kastor.engine.train;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AuditDigestTest {
  /** The values of the Python client, which writes the same digest of the same pairs. */
  @Test
  void allAgentsShareItsForm() {
    AuditDigest one = AuditDigest.of(new ElasticSampler.Take(new long[] {0}, new int[] {0}));
    assertThat(one).isEqualTo(new AuditDigest(1, 0xa706dd2f4d197e6fL));
    AuditDigest three =
        AuditDigest.of(new ElasticSampler.Take(new long[] {5, 6, 7}, new int[] {3, 0, 7}));
    assertThat(three).isEqualTo(new AuditDigest(3, 0x63e7af41d5e4655bL));
  }
}
