package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class RingTest {
  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private List<Ring> rings(int size, RingLimits limits) throws Exception {
    for (int i = 0; i < size; i++) {
      listeners.add(Crew.listen());
    }
    return crew.rings(listeners, 1, limits);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  @Tag("never-retried")
  void sumsAnyLengthToTheSameBitsOnAllMembers(int size) throws Exception {
    List<Ring> rings = rings(size, Crew.LIMITS);
    int several = 2 * Frame.CHUNK_FLOATS * size + 17;
    for (int length : new int[] {0, 1, size - 1, size, 7, 101, 65_537, several}) {
      float[][] inputs = new float[size][];
      double[] expected = new double[length];
      for (int rank = 0; rank < size; rank++) {
        RandomGenerator random = RandomGeneratorFactory.getDefault().create(31L * length + rank);
        inputs[rank] = new float[length];
        for (int i = 0; i < length; i++) {
          inputs[rank][i] = (float) random.nextGaussian();
          expected[i] += inputs[rank][i];
        }
      }
      List<float[]> sums =
          crew.together(
              size,
              rank -> {
                rings.get(rank).allReduce(inputs[rank]);
                return inputs[rank];
              });
      for (float[] sum : sums) {
        assertThat(sum).isEqualTo(sums.getFirst());
        for (int i = 0; i < length; i++) {
          assertThat((double) sum[i]).isBetween(expected[i] - 1e-5, expected[i] + 1e-5);
        }
      }
    }
    rings.forEach(Ring::close);
  }

  /** As while an operator's setting has changed and not all pods have. */
  @Test
  void sumsWhateverCipherEachMemberHas() throws Exception {
    for (RingCipher cipher : RingCipher.values()) {
      listeners.add(Crew.listen(cipher));
    }
    List<Ring> rings = crew.rings(listeners, 1, Crew.LIMITS);
    int length = 3 * Frame.CHUNK_FLOATS + 1;
    List<float[]> sums =
        crew.together(
            rings.size(),
            rank -> {
              float[] data = new float[length];
              Arrays.fill(data, rank + 1);
              rings.get(rank).allReduce(data);
              return data;
            });
    assertThat(sums).allSatisfy(sum -> assertThat(sum).containsOnly(6));
    rings.forEach(Ring::close);
  }

  @Test
  void gathersEachMembersBytesInRankOrder() throws Exception {
    List<Ring> rings = rings(4, Crew.LIMITS);
    List<List<byte[]>> all =
        crew.together(4, rank -> rings.get(rank).allGather(new byte[rank * 1000]));
    for (List<byte[]> gathered : all) {
      assertThat(gathered).extracting(bytes -> bytes.length).containsExactly(0, 1000, 2000, 3000);
    }
    rings.forEach(Ring::close);
  }

  @Test
  void gathersWhatIsLongerThanAFrameAsWell() throws Exception {
    int most = 3 * Frame.MAX_PAYLOAD + 5;
    for (int size : new int[] {1, 2, 5}) {
      List<Ring> rings = rings(size, Crew.LIMITS);
      for (int lengths : new int[] {0, 1, Frame.MAX_PAYLOAD, most / size}) {
        List<byte[]> expected = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
          byte[] own = new byte[lengths * rank / Math.max(1, size - 1)];
          RandomGeneratorFactory.getDefault().create(rank).nextBytes(own);
          expected.add(own);
        }
        for (List<byte[]> gathered :
            crew.together(size, rank -> rings.get(rank).allGather(expected.get(rank), most))) {
          assertThat(gathered).containsExactlyElementsOf(expected);
        }
      }
      rings.forEach(Ring::close);
      for (RingListener listener : listeners) {
        listener.close();
      }
      listeners.clear();
    }
  }

  @Test
  void nobodyReadsWhatIsLongerThanItsBound() throws Exception {
    List<Ring> rings = rings(3, Crew.LIMITS);
    List<Future<List<byte[]>>> gathers =
        crew.start(
            3,
            rank ->
                rings.get(rank).allGather(new byte[rank * 10_000], rank == 2 ? 20_000 : 19_999));
    for (int rank : new int[] {0, 1}) {
      assertThatThrownBy(() -> gathers.get(rank).get())
          .hasCauseInstanceOf(RingBrokenException.class)
          .hasMessageContaining("rank 2 has 20000 bytes to gather; at most 19999 are allowed");
    }
    rings.forEach(Ring::close);
    assertThatThrownBy(() -> gathers.get(2).get()).hasCauseInstanceOf(RingBrokenException.class);
  }

  @Test
  void refusesToGatherMoreThanAFrameHolds() throws Exception {
    List<Ring> rings = rings(1, Crew.LIMITS);
    assertThatThrownBy(() -> rings.getFirst().allGather(new byte[Ring.MAX_GATHER_BYTES + 1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("4096");
  }

  @Test
  void allMembersNoticeAtOnceWhenOneDies() throws Exception {
    // The watch for silence comes too late for this test.
    List<Ring> rings =
        rings(5, Crew.limits(Duration.ofHours(1), Crew.LIMITS.handshake(), Crew.LIMITS.connect()));
    List<Future<Boolean>> steps =
        crew.start(
            5,
            rank -> {
              float[] data = new float[1_000_000];
              try {
                for (int step = 0; ; step++) {
                  if (rank == 2 && step == 3) {
                    rings.get(rank).close();
                  }
                  rings.get(rank).allReduce(data);
                }
              } catch (RingBrokenException e) {
                return true;
              }
            });
    for (Future<Boolean> step : steps) {
      assertThat(step.get()).isTrue();
    }
  }

  @Test
  void breaksWhenTheLeftNeighbourStaysSilent() throws Exception {
    RingLimits impatient =
        Crew.limits(Duration.ofMillis(200), Crew.LIMITS.handshake(), Crew.LIMITS.connect());
    RingLimits mute =
        Crew.limits(Duration.ofHours(1), Crew.LIMITS.handshake(), Crew.LIMITS.connect());
    for (int i = 0; i < 2; i++) {
      listeners.add(Crew.listen());
    }
    List<Ring> rings =
        crew.together(
            2,
            rank ->
                Ring.open(
                    listeners.get(rank),
                    1,
                    rank,
                    Crew.addresses(listeners),
                    rank == 0 ? impatient : mute,
                    () -> false));
    assertThatThrownBy(() -> rings.getFirst().allReduce(new float[10]))
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("silent");
    rings.forEach(Ring::close);
  }

  @Test
  @Tag("timing")
  void waitsForANeighbourThatComputesLongerThanTheLimit() throws Exception {
    RingLimits impatient =
        Crew.limits(Duration.ofSeconds(2), Crew.LIMITS.handshake(), Crew.LIMITS.connect());
    List<Ring> rings = rings(2, impatient);
    List<float[]> sums =
        crew.together(
            2,
            rank -> {
              if (rank == 1) {
                long end = System.nanoTime() + 2 * impatient.silence().toNanos();
                while (System.nanoTime() < end) {
                  Thread.onSpinWait();
                }
              }
              float[] data = {1};
              rings.get(rank).allReduce(data);
              return data;
            });
    assertThat(sums.getFirst()).containsExactly(2);
    rings.forEach(Ring::close);
  }

  @Test
  void givesUpFormingWhenAbandoned() throws Exception {
    listeners.add(Crew.listen());
    listeners.add(Crew.listen());
    assertThatThrownBy(() ->
            Ring.open(listeners.get(0), 1, 0, Crew.addresses(listeners), Crew.LIMITS, () -> true))
        .isInstanceOf(RingBrokenException.class)
        .hasMessageContaining("abandoned");
  }
}
