package dev.kastor.operator.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.nio.NioEventLoopGroup;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class LoopClockTest {
  private static final long TICK = LoopClock.TICK_NANOS;

  private final AtomicLong now = new AtomicLong(17);
  private final LoopClock clock = new LoopClock(now::get);
  private final long begun = clock.getAsLong();

  @Test
  void goesWithALoopThatIsOnTime() {
    for (int i = 0; i < 100; i++) {
      now.addAndGet(TICK);
      clock.tick();
    }
    assertThat(clock.getAsLong() - begun).isEqualTo(100 * TICK);
  }

  @Test
  void standsStillWhileTheLoopIsLate() {
    now.addAndGet(50 * TICK);
    assertThat(clock.getAsLong() - begun).isEqualTo(TICK);
    clock.tick();
    assertThat(clock.getAsLong() - begun).isEqualTo(TICK);
    now.addAndGet(TICK / 2);
    assertThat(clock.getAsLong() - begun).isEqualTo(TICK + TICK / 2);
  }

  @Test
  void neverGoesBack() {
    long before = begun;
    for (int i = 0; i < 1000; i++) {
      now.addAndGet(i % 7 * TICK / 3);
      if (i % 3 == 0) {
        clock.tick();
      }
      assertThat(clock.getAsLong()).isGreaterThanOrEqualTo(before);
      before = clock.getAsLong();
    }
  }

  @Tag("slow")
  @Test
  void aLoopThatIsHeldUpLosesTheTime() throws Exception {
    try (var group = new ClosedAtTheEnd()) {
      LoopClock real = LoopClock.of(group.loops.next());
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      group.loops.execute(() -> {
        held.countDown();
        await(release);
      });
      held.await();
      long from = real.getAsLong();
      Thread.sleep(Duration.ofNanos(3 * TICK));
      assertThat(real.getAsLong() - from).isLessThanOrEqualTo(TICK);
      release.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Event loops of a test. */
  private static final class ClosedAtTheEnd implements AutoCloseable {
    final NioEventLoopGroup loops = new NioEventLoopGroup(1);

    @Override
    public void close() {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }
}
