package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options of lower bounds. */
public final class BoundOptions {
  private static final int MOST_SLOT_SECONDS = 86_400;

  @Option(
      names = "--bound",
      description =
          "Also compute how far any schedule could go, knowing all jobs to come, and each mean"
              + " against that.")
  private boolean bound;

  @Option(
      names = "--bound-slot",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "Slot of time of --bound: half of it is more exact and takes twice as long (default:"
              + " ${DEFAULT-VALUE}).")
  private double slotSeconds;

  /**
   * The slot of time of bounds that are asked for.
   *
   * @throws CliException if it is none
   */
  public Optional<Duration> slot() {
    if (!(slotSeconds >= 1 && slotSeconds <= MOST_SLOT_SECONDS)) {
      throw new CliException(
          ExitCode.USAGE, "--bound-slot must be from 1 to %d seconds".formatted(MOST_SLOT_SECONDS));
    }
    return bound
        ? Optional.of(Duration.ofMillis(Math.round(1000 * slotSeconds)))
        : Optional.empty();
  }
}
