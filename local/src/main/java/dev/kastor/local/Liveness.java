package dev.kastor.local;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/**
 * Test of a process that lives: one that fails three times in a row after the process has answered,
 * or once its time to start is over, tells that it hangs.
 *
 * @param question asks the process
 * @param period time between two questions
 * @param startup how long the process may take until its first answer
 */
record Liveness(Question question, Duration period, Duration startup) {
  /** Questions without an answer, one after the other, that tell that a process hangs. */
  static final int FAILURES = 3;

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Test by an address that answers 200. */
  static Liveness of(URI address, Duration period, Duration startup) {
    HttpRequest request = HttpRequest.newBuilder(address).timeout(PATIENCE).GET().build();
    return new Liveness(
        () -> {
          try (HttpClient http =
              HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
          } catch (IOException e) {
            return false;
          }
        },
        period,
        startup);
  }

  /** Begins to watch a process that was just started. */
  Watch watch() {
    return new Watch(this);
  }

  /** A question that a process answers while it lives. */
  @FunctionalInterface
  interface Question {
    boolean answered() throws InterruptedException;
  }

  /** Record of one process and its answers. */
  static final class Watch {
    private final Liveness liveness;
    private final long startedNanos = System.nanoTime();
    private boolean answered;
    private int failures;

    private Watch(Liveness liveness) {
      this.liveness = liveness;
    }

    /** Asks once; whether the process is to be given up. */
    boolean isDead() throws InterruptedException {
      if (liveness.question().answered()) {
        answered = true;
        failures = 0;
      } else if (answered || System.nanoTime() - startedNanos > liveness.startup().toNanos()) {
        failures++;
      }
      return failures >= FAILURES;
    }
  }
}
