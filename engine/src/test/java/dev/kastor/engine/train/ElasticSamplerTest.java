package dev.kastor.engine.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.protocol.BatchPlan;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("never-retried")
class ElasticSamplerTest {
  @Test
  void coversEveryPositionOnceOverRandomResizes() {
    SplittableRandom random = new SplittableRandom(5);
    for (int trial = 0; trial < 50; trial++) {
      int examples = 1 + random.nextInt(300);
      long seed = random.nextLong();
      ElasticSampler sampler = new ElasticSampler(examples, seed);
      long cursor = 0;
      AuditDigest digest = AuditDigest.EMPTY;
      while (cursor < 5L * examples) {
        int replicas = 1 + random.nextInt(5);
        BatchPlan plan = new BatchPlan(1 + random.nextInt(40), random.nextInt(3));
        int global = plan.globalBatchSize(replicas);
        BitSet seen = new BitSet();
        for (int rank = replicas - 1; rank >= 0; rank--) {
          // Each replica has a sampler of its own: only the arguments may matter.
          ElasticSampler own = new ElasticSampler(examples, seed);
          for (int pass = 0; pass <= plan.accumulationSteps(); pass++) {
            ElasticSampler.Take take = own.take(cursor, plan, replicas, rank, pass);
            for (int i = 0; i < take.examples().length; i++) {
              int offset = (int) (take.positions()[i] - cursor);
              assertThat(seen.get(offset)).isFalse();
              seen.set(offset);
              assertThat(take.examples()[i]).isEqualTo(sampler.example(cursor + offset));
            }
            digest = digest.plus(AuditDigest.of(take));
          }
        }
        assertThat(seen.cardinality()).isEqualTo(global);
        assertThat(seen.length()).isEqualTo(global);
        cursor += global;
      }
      assertThat(digest).isEqualTo(sampler.expected(cursor));
      assertThat(digest.count()).isEqualTo(cursor);
    }
  }

  @Test
  void takesEachExampleOncePerEpochInAnOrderOfItsOwn() {
    ElasticSampler sampler = new ElasticSampler(1000, 3);
    int[] first = IntStream.range(0, 1000).map(sampler::example).toArray();
    int[] second = IntStream.range(1000, 2000).map(sampler::example).toArray();

    assertThat(Arrays.stream(first).sorted().toArray())
        .isEqualTo(IntStream.range(0, 1000).toArray());
    assertThat(Arrays.stream(second).sorted().toArray())
        .isEqualTo(IntStream.range(0, 1000).toArray());
    assertThat(first).isNotEqualTo(second);
    assertThat(first).isNotEqualTo(IntStream.range(0, 1000).toArray());
    ElasticSampler other = new ElasticSampler(1000, 4);
    assertThat(IntStream.range(0, 1000).map(other::example).toArray()).isNotEqualTo(first);
    assertThat(sampler.epoch(999)).isZero();
    assertThat(sampler.epoch(1000)).isEqualTo(1);
  }

  /** By Python's own integers. Fixed for ever: a checkpoint's cursor means these examples. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 1 4 5 0 7 6 9 8 2 3",
    "0, 1, 7 2 6 8 0 1 5 9 3 4",
    "1, 0, 9 4 3 0 6 8 1 7 2 5",
    "7, 123456, 0 9 7 4 8 3 6 1 2 5",
    "-1, 0, 5 9 3 7 4 1 2 6 8 0"
  })
  void theOrderIsThatOfIntegerArithmetic(long seed, long epoch, String order) {
    ElasticSampler sampler = new ElasticSampler(10, seed);
    assertThat(sampler.take(10 * epoch, new BatchPlan(10, 0), 1, 0, 0).examples())
        .isEqualTo(Arrays.stream(order.split(" ")).mapToInt(Integer::parseInt).toArray());
  }

  /** Four replicas of three passes of 5 from position 100 on, as in the Python client's tests. */
  @ParameterizedTest
  @CsvSource({"0, 0, 100", "0, 1, 105", "0, 2, 110", "1, 0, 115", "2, 1, 135", "3, 2, 155"})
  void passesOfAReplicaAreNeighbours(int rank, int pass, long first) {
    BatchPlan plan = new BatchPlan(5, 2);
    ElasticSampler sampler = new ElasticSampler(1000, 0);
    long[] positions = LongStream.range(first, first + 5).toArray();
    assertThat(sampler.take(100, plan, 4, rank, pass).positions()).isEqualTo(positions);
    long[] chosen = LongStream.range(50, 250).toArray();
    assertThat(sampler.take(chosen, 50, plan, rank, pass).positions()).isEqualTo(positions);
  }

  @Test
  void expectsWhatLiesBeforeTheCursorAndNoMore() {
    ElasticSampler sampler = new ElasticSampler(37, 3);
    AuditDigest digest = AuditDigest.EMPTY;
    for (long cursor = 0; cursor < 120; cursor++) {
      assertThat(sampler.expected(cursor)).isEqualTo(digest);
      digest = digest.plus(AuditDigest.of(sampler.take(new long[] {cursor})));
    }
  }

  @Test
  void shufflesEvenly() {
    // Each of 20 examples lands on the first place about 500 times in 10000 epochs.
    ElasticSampler sampler = new ElasticSampler(20, 9);
    int[] counts = new int[20];
    for (long epoch = 0; epoch < 10_000; epoch++) {
      counts[sampler.example(epoch * 20)]++;
    }
    double chiSquare = Arrays.stream(counts).mapToDouble(c -> (c - 500.0) * (c - 500) / 500).sum();
    // 19 degrees of freedom: 43.8 is exceeded with probability 0.001.
    assertThat(chiSquare).isLessThan(43.8);
  }

  @Test
  void seesLostRepeatedAndExchangedExamples() {
    ElasticSampler sampler = new ElasticSampler(100, 1);
    AuditDigest expected = sampler.expected(250);
    BatchPlan plan = new BatchPlan(50, 0);
    AuditDigest all = AuditDigest.EMPTY;
    for (int rank = 0; rank < 5; rank++) {
      all = all.plus(AuditDigest.of(sampler.take(0, plan, 5, rank, 0)));
    }
    AuditDigest share = AuditDigest.of(sampler.take(0, plan, 5, 2, 0));
    AuditDigest exchanged =
        new AuditDigest(all.count(), all.sum() - share.sum())
            .plus(new AuditDigest(0, AuditDigest.of(sampler.take(0, plan, 5, 1, 0)).sum()));

    assertThat(all.lostOrRepeated(expected)).isZero();
    assertThat(all.plus(share).lostOrRepeated(expected)).isEqualTo(50);
    assertThat(new AuditDigest(200, all.sum() - share.sum()).lostOrRepeated(expected))
        .isEqualTo(50);
    assertThat(exchanged.lostOrRepeated(expected)).isEqualTo(2);
  }

  @Test
  void auditsTenMillionExamples() {
    assertThat(new ElasticSampler(20_000, 1).expected(10_000_000).count()).isEqualTo(10_000_000);
  }

  @Test
  void aDataSetMayHaveOneExample() {
    ElasticSampler one = new ElasticSampler(1, 7);
    assertThat(one.example(0)).isZero();
    assertThat(one.example(5)).isZero();
  }

  @Test
  void refusesWhatCannotBe() {
    ElasticSampler sampler = new ElasticSampler(10, 1);
    BatchPlan plan = new BatchPlan(2, 1);
    assertThatThrownBy(() -> sampler.take(0, plan, 2, 2, 0)).hasMessageContaining("rank 2 of 2");
    assertThatThrownBy(() -> sampler.take(-1, plan, 2, 0, 0)).hasMessageContaining("cursor -1");
    assertThatThrownBy(() -> sampler.take(0, plan, 2, 0, 2)).hasMessageContaining("pass 2 of 2");
    assertThatThrownBy(() -> new ElasticSampler(0, 1)).hasMessageContaining("at least 1");
  }
}
