package dev.kastor.e2e;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Waits for what the cluster does in its own time. */
final class Await {
  private static final long POLL_MILLIS = 250;

  private Await() {}

  /**
   * Returns once the condition holds.
   *
   * @param situation what is the case instead, asked for when the time is up
   */
  static void until(
      String what, Duration limit, Supplier<String> situation, Callable<Boolean> condition)
      throws Exception {
    long begun = System.nanoTime();
    while (!condition.call()) {
      if (System.nanoTime() - begun > limit.toNanos()) {
        throw new AssertionError(
            "not within %d s: %s. Instead: %s".formatted(limit.toSeconds(), what, situation.get()));
      }
      Thread.sleep(POLL_MILLIS);
    }
    Progress.say("%s (%.1f s)".formatted(what, (System.nanoTime() - begun) / 1e9));
  }
}
