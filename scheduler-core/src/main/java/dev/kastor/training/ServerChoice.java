package dev.kastor.training;

import dev.kastor.plugin.Selection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parameter servers that a job asks for, as far as those have to know who make its pods and have
 * none of its features: who has them checks the rest.
 *
 * @param servers processes over which the parameters are sharded, 1 to {@link #MOST}
 * @param asynchronous whether no worker waits for another
 * @param backup workers more than a step needs
 */
public record ServerChoice(int servers, boolean asynchronous, int backup) {
  /** Name of the sync policy that has servers. */
  public static final String POLICY = "parameter-server";

  /** Most servers of a job. */
  public static final int MOST = 64;

  private static final String SERVERS = "servers";
  private static final String MODE = "mode";
  private static final String BACKUP = "backup";
  private static final String ASYNCHRONOUS = "asynchronous";
  private static final String STEPS = "steps";

  /**
   * The choice of a job; empty where it asks for no servers.
   *
   * @param training {@code spec.training} in its free form
   * @throws IllegalArgumentException if the form of {@code training} or a value is wrong
   */
  public static Optional<ServerChoice> of(@Nullable Map<String, ?> training) {
    // Asked of all jobs, most of which choose nothing.
    return training == null || training.isEmpty()
        ? Optional.empty()
        : TrainingChoices.parse(training)
            .sync()
            .filter(sync -> sync.name().equals(POLICY))
            .map(ServerChoice::of);
  }

  private static ServerChoice of(Selection sync) {
    int servers = number(sync, SERVERS, 1, 1, MOST);
    int backup = number(sync, BACKUP, 0, 0, Integer.MAX_VALUE);
    String mode = sync.values().getOrDefault(MODE, STEPS);
    if (!mode.equals(STEPS) && !mode.equals(ASYNCHRONOUS)) {
      throw new IllegalArgumentException(
          "training.sync.%s.%s must be %s or %s but is '%s'"
              .formatted(POLICY, MODE, STEPS, ASYNCHRONOUS, mode));
    }
    return new ServerChoice(servers, mode.equals(ASYNCHRONOUS), backup);
  }

  private static int number(Selection sync, String option, int otherwise, int least, int most) {
    String text = sync.values().get(option);
    if (text == null) {
      return otherwise;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // As a number that is out of its bounds.
    }
    throw new IllegalArgumentException(
        "training.sync.%s.%s must be a whole number of at least %d%s but is '%s'"
            .formatted(
                POLICY, option, least, most == Integer.MAX_VALUE ? "" : ", at most " + most, text));
  }

  /** Whether a slow worker holds up the others: each step needs all of them. */
  public boolean inStep() {
    return !asynchronous && backup == 0;
  }

  /**
   * Workers whose batches make one step together: copies of backup workers add nothing, and without
   * steps each worker's batch is an update of its own.
   *
   * @param workers that train
   */
  public int shares(int workers) {
    return asynchronous ? 1 : Math.max(1, workers - backup);
  }
}
