package dev.kastor.agent.pace;

import java.time.Duration;

/** Machine of two cores whose clock moves when a test says so, or the pacer sleeps. */
final class MovedMachine implements Machine {
  private long now = 1_000;
  private Duration computed = Duration.ZERO;

  /** Computes for some time. */
  void compute(Duration time) {
    now += time.toNanos();
    computed = computed.plus(time);
  }

  /** Lets time go by in which this process computes nothing. */
  void passes(Duration time) {
    now += time.toNanos();
  }

  @Override
  public long nanos() {
    return now;
  }

  @Override
  public void sleepUntil(long nanos) {
    now = Math.max(now, nanos);
  }

  @Override
  public Duration computed() {
    return computed;
  }

  @Override
  public int cores() {
    return 2;
  }
}
