package dev.kastor.e2e.scale;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;

/** Does what the API server may refuse for a while. */
final class Patiently {
  private static final Duration BETWEEN = Duration.ofSeconds(1);
  private static final int TIMES = 60;

  private Patiently() {}

  /** Tries until it works; the last failure is thrown on. */
  static void until(Runnable work) throws InterruptedException {
    for (int time = 1; ; time++) {
      try {
        work.run();
        return;
      } catch (KubernetesClientException e) {
        if (time == TIMES) {
          throw e;
        }
        Thread.sleep(BETWEEN);
      }
    }
  }
}
