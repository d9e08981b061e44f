package dev.kastor.cli.local;

import dev.kastor.cli.plugin.KnownPolicies;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.MachineGpus;
import org.jspecify.annotations.Nullable;

/** Checks of the options that shape a local cluster. */
public final class Sizing {
  private static final int MAX_SLOTS = 256;
  private static final int DEFAULT_SPARES = 4;
  private static final int MAX_PORT = 65_535;

  private Sizing() {}

  /** Slots that are asked for, else one for each GPU, else one for each core. */
  public static int slots(@Nullable Integer slots) {
    int chosen = slots == null ? machine() : slots;
    if (chosen < 1 || chosen > MAX_SLOTS) {
      throw new CliException(
          ExitCode.USAGE, "--slots must be 1 to %d but is %d".formatted(MAX_SLOTS, chosen));
    }
    return chosen;
  }

  /**
   * GPUs or cores that slots share: what is asked for, else one for each paced slot, else those of
   * the machine.
   */
  public static int devices(@Nullable Integer devices, int slots, boolean paced) {
    if (devices != null && (devices < 1 || devices > MAX_SLOTS)) {
      throw new CliException(
          ExitCode.USAGE, "--devices must be 1 to %d but is %d".formatted(MAX_SLOTS, devices));
    }
    int there = devices != null ? devices : paced ? slots : machine();
    return Math.min(slots, there);
  }

  /** Processes of a kind that wait which are asked for, else half as many as slots, at most 4. */
  public static int spares(@Nullable Integer spares, int slots) {
    int chosen = spares == null ? Math.min(slots / 2, DEFAULT_SPARES) : spares;
    if (chosen < 0 || chosen > MAX_SLOTS) {
      throw new CliException(
          ExitCode.USAGE, "--spares must be 0 to %d but is %d".formatted(MAX_SLOTS, chosen));
    }
    return chosen;
  }

  private static int machine() {
    int gpus = MachineGpus.found().size();
    return gpus > 0 ? gpus : Runtime.getRuntime().availableProcessors();
  }

  public static String policy(String policy) {
    try {
      return KnownPolicies.read().choose(policy).toString();
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCode.USAGE, "--policy: " + e.getMessage(), e);
    }
  }

  public static int port(int port) {
    if (port < 0 || port > MAX_PORT) {
      throw new CliException(
          ExitCode.USAGE, "--port must be 0 to %d but is %d".formatted(MAX_PORT, port));
    }
    return port;
  }
}
