package dev.kastor.scheduler.policy.pollux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NodeLanesTest {
  @ParameterizedTest
  @CsvSource({"1,1", "16,4", "17,7", "5,8", "33,127", "9,128", "3,40000", "16,15"})
  void treatsLanesAsTheirNumbers(int nodes, int slots) {
    NodeLanes lanes = new NodeLanes(nodes, slots);
    SplittableRandom random = new SplittableRandom(nodes);
    for (int trial = 0; trial < 200; trial++) {
      int[] a = random.ints(nodes, 0, slots + 1).map(i -> random.nextBoolean() ? i : 0).toArray();
      int[] b = random.ints(nodes, 0, slots + 1).toArray();
      long[] packedA = new long[lanes.words];
      long[] packedB = new long[lanes.words];
      lanes.pack(a, 0, packedA, 0);
      lanes.pack(b, 0, packedB, 0);
      int sum = 0;
      int used = 0;
      for (int w = 0; w < lanes.words; w++) {
        sum += lanes.sum(packedA[w]);
        used += Long.bitCount(lanes.nonzero(packedA[w]));
        packedB[w] = lanes.min(packedA[w], packedB[w]) & lanes.full(lanes.nonzero(packedA[w]));
      }
      int[] smaller = new int[nodes];
      lanes.unpack(packedB, 0, smaller, 0);
      int expectedSum = 0;
      int expectedUsed = 0;
      for (int n = 0; n < nodes; n++) {
        expectedSum += a[n];
        expectedUsed += a[n] > 0 ? 1 : 0;
        assertThat(smaller[n]).isEqualTo(Math.min(a[n], b[n]));
        assertThat(lanes.bottom(packedA[lanes.word(n)] >>> lanes.shift(n))).isEqualTo(a[n]);
        assertThat(lanes.node(lanes.word(n), lanes.shift(n))).isEqualTo(n);
      }
      assertThat(sum).isEqualTo(expectedSum);
      assertThat(used).isEqualTo(expectedUsed);
    }
  }
}
