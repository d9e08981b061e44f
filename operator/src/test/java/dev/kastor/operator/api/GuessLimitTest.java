package dev.kastor.operator.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
class GuessLimitTest {
  private static final String SHARED = "127.0.0.1";

  private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
  private final GuessLimit limit = new GuessLimit(now::get);

  @Test
  void aGuessCountsBeforeItIsReviewed() {
    assertThat(taken(100, guess("s", false))).isEqualTo(50);
    now.set(now.get().plusSeconds(2));
    assertThat(taken(100, guess("s", false))).isEqualTo(10);
  }

  @Test
  void aGoodTokenCostsNothing() {
    var good = guess("s", false);
    for (int i = 0; i < 1_000; i++) {
      assertThat(limit.take(good)).isTrue();
      limit.giveBack(good);
    }
  }

  @Test
  void oneWhoGuessesDoesNotHoldUpAnotherBehindTheSameAddress() {
    taken(1_000, guess("guesser", false));
    assertThat(limit.take(guess("newcomer", false))).isTrue();
  }

  @Test
  void anAddressThatGuessesUnderManyNamesIsBounded() {
    long reviewed =
        IntStream.range(0, 1_000).filter(i -> limit.take(guess("name" + i, false))).count();
    assertThat(reviewed).isEqualTo(200);
    assertThat(limit.take(guess("was good lately", true))).isTrue();
  }

  @Test
  void oneWhoWasGoodLatelyIsBoundedToo() {
    assertThat(taken(1_000, guess("was good lately", true))).isEqualTo(50);
  }

  private long taken(int times, GuessLimit.Guess guess) {
    return IntStream.range(0, times).filter(i -> limit.take(guess)).count();
  }

  private static GuessLimit.Guess guess(String subject, boolean known) {
    return new GuessLimit.Guess(SHARED, subject, known);
  }
}
