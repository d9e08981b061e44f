package dev.kastor.e2e.suite;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Lines for the person who waits, with the seconds since {@code ./kastor e2e} was called. */
public final class Progress {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private static final long STARTED = started();

  private Progress() {}

  /** One line. */
  public static void say(String text) {
    OUT.printf("%5ds  %s%n", seconds(), text);
  }

  /** Seconds since {@code ./kastor e2e} was called. */
  static long seconds() {
    return Instant.now().getEpochSecond() - STARTED;
  }

  private static long started() {
    String given = System.getenv("KASTOR_E2E_STARTED");
    return given == null ? Instant.now().getEpochSecond() : Long.parseLong(given);
  }
}
