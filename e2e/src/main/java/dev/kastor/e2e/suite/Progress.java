package dev.kastor.e2e.suite;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Lines for the person who waits, with the seconds since {@code ./kastor e2e} was called. */
public final class Progress {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final long STARTED = started("KASTOR_E2E_STARTED");
  private static final long CLUSTER_STARTED = started("KASTOR_E2E_CLUSTER_STARTED");

  private Progress() {}

  /** One line. */
  public static void say(String text) {
    OUT.printf("%5ds  %s%n", seconds(), text);
  }

  /** Seconds since {@code ./kastor e2e} was called. */
  private static long seconds() {
    return Instant.now().getEpochSecond() - STARTED;
  }

  /** Seconds since all that the cluster is made of was there, and the cluster was started. */
  static long sinceCluster() {
    return Instant.now().getEpochSecond() - CLUSTER_STARTED;
  }

  private static long started(String variable) {
    String given = System.getenv(variable);
    return given == null ? Instant.now().getEpochSecond() : Long.parseLong(given);
  }
}
