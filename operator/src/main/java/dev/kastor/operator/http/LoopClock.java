package dev.kastor.operator.http;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Clock of an event loop, which stands still while the loop is late: what clients sent meanwhile
 * has not been read, so they are not to be blamed for the time.
 *
 * <p>When all agents connect at once, as after a start of the operator, their handshakes take
 * longer than a single one may.
 */
final class LoopClock implements LongSupplier {
  /** How often the loop shows that it is on time. */
  static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LongSupplier nanoTime;

  /**
   * Where time began to count, and what did not count before.
   *
   * @param at the last tick
   * @param lost nanoseconds until then in which the loop was late
   */
  private record Tick(long at, long lost) {}

  private volatile Tick last;

  LoopClock(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    last = new Tick(nanoTime.getAsLong(), 0);
  }

  /** A clock that ticks in a loop as long as the loop lives. */
  static LoopClock of(EventLoop loop) {
    LoopClock clock = new LoopClock(System::nanoTime);
    var _ = loop.scheduleWithFixedDelay(clock::tick, TICK_NANOS, TICK_NANOS, TimeUnit.NANOSECONDS);
    return clock;
  }

  /** Says that the loop is here. By the loop alone. */
  void tick() {
    long now = nanoTime.getAsLong();
    Tick before = last;
    last = new Tick(now, before.lost + Math.max(0, now - before.at - TICK_NANOS));
  }

  /** Nanoseconds in which the loop was on time, from any beginning. */
  @Override
  public long getAsLong() {
    Tick before = last;
    long since = nanoTime.getAsLong() - before.at;
    return before.at - before.lost + Math.min(since, TICK_NANOS);
  }
}
