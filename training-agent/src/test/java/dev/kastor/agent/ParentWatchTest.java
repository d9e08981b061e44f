package dev.kastor.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class ParentWatchTest {
  private static final Duration NEVER = Duration.ofDays(1);

  /** Moved by the pauses of the watch. */
  private final AtomicReference<Duration> now = new AtomicReference<>(Duration.ZERO);

  private boolean endsUnattended(InputStream pipe, Duration signal, Duration parentEnds)
      throws InterruptedException {
    return new ParentWatch(
            pipe,
            () -> now.get().compareTo(signal) >= 0,
            () -> now.get().compareTo(parentEnds) < 0,
            pause -> now.updateAndGet(pause::plus))
        .endsUnattended();
  }

  private static InputStream ended() {
    return new ByteArrayInputStream("ignored".repeat(100).getBytes(UTF_8));
  }

  @Test
  void aSignalMayBeSecondsBehindTheEndOfThePipe() throws Exception {
    assertThat(endsUnattended(ended(), Duration.ofSeconds(4), NEVER)).isFalse();
    assertThat(now.get()).isEqualTo(Duration.ofSeconds(4));
  }

  @Test
  void aParentThatIsGoneIsNotWaitedFor() throws Exception {
    assertThat(endsUnattended(ended(), NEVER, Duration.ZERO)).isTrue();
    assertThat(now.get()).isEqualTo(ParentWatch.GONE);
  }

  @Test
  void aParentThatEndsLaterIsNotWaitedForEither() throws Exception {
    assertThat(endsUnattended(ended(), NEVER, Duration.ofSeconds(3))).isTrue();
    assertThat(now.get()).isLessThan(Duration.ofSeconds(4));
  }

  @Test
  void theLastSignalOfAParentCounts() throws Exception {
    assertThat(endsUnattended(ended(), Duration.ofMillis(100), Duration.ZERO)).isFalse();
  }

  @Test
  void aPipeThatEndsWithoutASignalIsAnEnd() throws Exception {
    assertThat(endsUnattended(ended(), NEVER, NEVER)).isTrue();
    assertThat(now.get()).isEqualTo(ParentWatch.LIVING);
  }

  @Test
  void aBrokenPipeIsAnEndAsWell() throws Exception {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("broken");
          }

          @Override
          public int read(byte[] bytes, int offset, int length) throws IOException {
            return read();
          }
        };
    assertThat(endsUnattended(broken, NEVER, Duration.ZERO)).isTrue();
  }
}
