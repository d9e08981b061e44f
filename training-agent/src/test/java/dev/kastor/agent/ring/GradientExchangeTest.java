package dev.kastor.agent.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GradientExchangeTest {
  private static final int BUCKET = Sums.RingSums.BUCKET_FLOATS;

  private final Crew crew = new Crew();
  private final List<RingListener> listeners = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (RingListener listener : listeners) {
      listener.close();
    }
    crew.close();
  }

  private List<Ring> rings(int size) throws Exception {
    for (int i = 0; i < size; i++) {
      listeners.add(Crew.listen());
    }
    return crew.rings(listeners, 1, Crew.LIMITS);
  }

  /** Each member's gradient becomes known in pieces of its own, and all get the same sum. */
  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"1, 700000", "2, 700000", "3, 524288", "3, 5", "2, 0"})
  void sumsWhateverPiecesItIsGiven(int size, int length) throws Exception {
    List<Ring> rings = rings(size);
    List<float[]> sums =
        crew.together(
            size,
            rank -> {
              SplittableRandom random = new SplittableRandom(rank);
              float[] gradient = new float[length];
              try (var exchange = new GradientExchange(rings.get(rank), gradient)) {
                int from = length;
                while (from > 0) {
                  int before = from;
                  from = Math.max(0, from - random.nextInt(1, BUCKET));
                  for (int i = from; i < before; i++) {
                    gradient[i] = i % 1000 + rank;
                  }
                  exchange.ready(from);
                }
                exchange.finish();
              }
              return gradient;
            });
    for (float[] sum : sums) {
      for (int i = 0; i < length; i++) {
        assertThat(sum[i]).isEqualTo(size * (i % 1000) + size * (size - 1) / 2f);
      }
    }
    rings.forEach(Ring::close);
  }

  @Tag("slow")
  @Test
  void theEndIsExchangedBeforeTheBeginningIsKnown() throws Exception {
    List<Ring> rings = rings(2);
    List<Boolean> early =
        crew.together(
            2,
            rank -> {
              float[] gradient = new float[2 * BUCKET];
              CountDownLatch first = new CountDownLatch(1);
              GradientExchange.Listener listener = (_, _, _) -> first.countDown();
              try (var exchange =
                  new GradientExchange(
                      rings.get(rank), new Sums.RingSums(rings.get(rank)), gradient, listener)) {
                Arrays.fill(gradient, BUCKET, 2 * BUCKET, 3);
                exchange.ready(BUCKET);
                boolean exchanged = first.await(5, TimeUnit.MINUTES) && gradient[BUCKET] == 6;
                exchange.ready(0);
                exchange.finish();
                return exchanged;
              }
            });
    assertThat(early).containsExactly(true, true);
    rings.forEach(Ring::close);
  }

  @Test
  void whoFailsInAPassTakesTheOthersOut() throws Exception {
    List<Ring> rings = rings(2);
    List<Throwable> ends =
        crew.together(
            2,
            rank -> {
              float[] gradient = new float[3 * BUCKET];
              try (var exchange = new GradientExchange(rings.get(rank), gradient)) {
                exchange.ready(2 * BUCKET);
                if (rank == 0) {
                  throw new ArithmeticException("in the pass");
                }
                exchange.ready(0);
                exchange.finish();
                return new AssertionError("nobody noticed");
              } catch (RingBrokenException | ArithmeticException e) {
                return e;
              }
            });
    assertThat(ends.get(0)).hasMessage("in the pass");
    assertThat(ends.get(1)).isInstanceOf(RingBrokenException.class);
  }

  @Test
  void whatWasNeverCompleteIsNotExchanged() throws Exception {
    List<Ring> rings = rings(2);
    try (var exchange = new GradientExchange(rings.getFirst(), new float[2 * BUCKET])) {
      assertThatThrownBy(exchange::finish)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("2 of 2 buckets were never complete");
    }
    rings.forEach(Ring::close);
  }
}
