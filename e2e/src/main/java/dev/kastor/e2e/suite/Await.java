package dev.kastor.e2e.suite;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.concurrent.Callable;
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
    long begun = System.nanoTime();
    while (!holds(condition)) {
      if (System.nanoTime() - begun > limit.toNanos()) {
        throw new WaitTimeout(
            "not within %d s: %s. Instead: %s".formatted(limit.toSeconds(), what, situation.get()));
      }
      Thread.sleep(POLL_MILLIS);
    }
    Progress.say("%s (%.1f s)".formatted(what, (System.nanoTime() - begun) / 1e9));
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
