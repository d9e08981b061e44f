package dev.kastor.e2e.suite;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Waits for what the cluster does in its own time. */
public final class Await {
  private static final long POLL_MILLIS = 250;

  private Await() {}

  /**
   * Returns once the condition holds.
   *
   * @param situation what is the case instead, asked for when the time is up
   * @throws WaitTimeout if the time is up
   */
  public static void until(
      String what, Duration limit, Supplier<String> situation, Callable<Boolean> condition)
      throws Exception {
    whileItMoves(what, limit, situation, () -> 0L, condition);
  }

  /**
   * Returns once the condition holds, for which a slow machine may take as long as it makes
   * progress.
   *
   * @param limit for how long it may make none
   * @param situation what is the case instead, asked for when the time is up
   * @param progress a number that changes where there is progress, such as the step of a training
   * @throws WaitTimeout if the time is up
   */
  public static void whileItMoves(
      String what,
      Duration limit,
      Supplier<String> situation,
      LongSupplier progress,
      Callable<Boolean> condition)
      throws Exception {
    long begun = System.nanoTime();
    long moved = begun;
    long last = 0;
    while (!holds(condition)) {
      long now = read(progress, last);
      if (now != last) {
        last = now;
        moved = System.nanoTime();
      }
      if (System.nanoTime() - moved > limit.toNanos()) {
        throw new WaitTimeout(
            "not within %d s: %s. Instead: %s".formatted(limit.toSeconds(), what, situation.get()));
      }
      Thread.sleep(POLL_MILLIS);
    }
    Progress.say("%s (%.1f s)".formatted(what, (System.nanoTime() - begun) / 1e9));
  }

  private static long read(LongSupplier progress, long last) {
    try {
      return progress.getAsLong();
    } catch (KubernetesClientException e) {
      // The condition says what is wrong, where it is not the server's to answer later.
      return last;
    }
  }

  /** An API server that cannot answer now is asked again: whoever waits has a limit. */
  private static boolean holds(Callable<Boolean> condition) throws Exception {
    try {
      return condition.call();
    } catch (KubernetesClientException e) {
      if (e.getCode() != 0 && e.getCode() < HttpURLConnection.HTTP_INTERNAL_ERROR) {
        throw e;
      }
      return false;
    }
  }
}
