package dev.kastor.agent.trainer;

import dev.kastor.engine.checkpoint.CheckpointException;
import dev.kastor.engine.checkpoint.OtherCheckpoints;
import dev.kastor.engine.checkpoint.TrainedParameters;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Job of the same namespace whose parameters a job begins with.
 *
 * @param job its name
 * @param step of the checkpoint; empty for the newest
 * @param source where its checkpoints are
 * @param runs what this job runs, for messages
 */
public record WarmStart(String job, OptionalLong step, Source source, String runs) {
  private static final int MOST_STEPS_TOLD = 5;

  /** Place of the other job's checkpoints. */
  public sealed interface Source {
    /**
     * Checkpoints that can be read.
     *
     * @param runs what the other job runs, for messages
     */
    record Found(OtherCheckpoints checkpoints, String runs) implements Source {}

    /** Reason why there are none to be read, as the operator found out. */
    record Absent(String why) implements Source {}
  }

  /**
   * Reads the parameters.
   *
   * @param parameters how many the model has
   * @param statistics how many the model has
   * @throws WarmStartException if another try would fail again
   * @throws IOException if another try may work
   */
  TrainedParameters read(int parameters, int statistics) throws IOException {
    return switch (source) {
      case Source.Found found -> read(found, parameters, statistics);
      case Source.Absent absent -> throw refused(absent.why(), null);
    };
  }

  private TrainedParameters read(Source.Found source, int parameters, int statistics)
      throws IOException {
    try {
      return step.isPresent()
          ? source.checkpoints().of(step.getAsLong(), parameters, statistics)
          : source.checkpoints().newest(parameters, statistics);
    } catch (NoSuchFileException e) {
      throw refused(
          "it has no checkpoint of step %d but of %s"
              .formatted(step.orElse(-1), steps(source.checkpoints())),
          e);
    } catch (CheckpointException e) {
      throw refused(
          "%s%s"
              .formatted(
                  e.getMessage(),
                  e.otherModel()
                      ? " (%s there, %s here). Both need the same network: its parameters in the spec must be the same"
                          .formatted(source.runs(), runs)
                      : ""),
          e);
    }
  }

  private static String steps(OtherCheckpoints checkpoints) throws IOException {
    String steps =
        checkpoints.steps().stream()
            .limit(MOST_STEPS_TOLD)
            .map(String::valueOf)
            .collect(Collectors.joining(", "));
    return steps.isEmpty() ? "no step at all" : steps;
  }

  private WarmStartException refused(String why, @Nullable IOException cause) {
    return new WarmStartException(
        "spec.checkpoint.warmStart: the parameters of job %s cannot be taken: %s."
            .formatted(job, why),
        cause);
  }
}
