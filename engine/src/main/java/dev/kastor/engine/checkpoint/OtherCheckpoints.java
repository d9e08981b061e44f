package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checkpoints of another job, which may train meanwhile; nothing in their directory is changed.
 *
 * <p>Memory is taken for the model at hand alone, whatever a file says.
 */
public final class OtherCheckpoints {
  private static final Logger LOG = LoggerFactory.getLogger(OtherCheckpoints.class);

  private final Path directory;
  private final String jobUid;

  /**
   * Names a directory; nothing is read yet.
   *
   * @param jobUid of the other job: what it did not write is not read
   */
  public OtherCheckpoints(Path directory, String jobUid) {
    this.directory = directory;
    this.jobUid = jobUid;
  }

  /**
   * The parameters of the newest checkpoint that is whole; each newer one that is not is logged.
   *
   * @param parameters how many the model at hand has
   * @param statistics how many the model at hand has
   * @throws CheckpointException if there is none that can be used; the message says why
   * @throws IOException if the directory or a file cannot be read; another try may work
   */
  public TrainedParameters newest(int parameters, int statistics) throws IOException {
    String damage = "it has saved none yet";
    List<Long> seen = List.of();
    // A busy writer can retire every listed file before it is read; newer ones then exist.
    for (List<Long> steps = steps(); !steps.equals(seen); steps = steps()) {
      seen = steps;
      for (long step : steps) {
        try {
          return of(step, parameters, statistics);
        } catch (NoSuchFileException e) {
          LOG.debug("job {}: the checkpoint of step {} is gone", jobUid, step);
        } catch (CheckpointException e) {
          if (e.otherModel()) {
            throw e;
          }
          damage = String.valueOf(e.getMessage());
          LOG.warn("job {}: skips a checkpoint: {}", jobUid, damage);
        }
      }
    }
    throw new CheckpointException(damage);
  }

  /**
   * The parameters of the checkpoint of a step.
   *
   * @throws NoSuchFileException if there is none
   * @throws CheckpointException if it cannot be used; the message names the step and says why
   * @throws IOException if it cannot be read; another try may work
   */
  public TrainedParameters of(long step, int parameters, int statistics) throws IOException {
    try {
      TrainedParameters found =
          read(CheckpointStore.file(directory, step), jobUid, parameters, statistics);
      if (found.step() != step) {
        throw new CheckpointException("it holds step " + found.step());
      }
      return found;
    } catch (CheckpointException e) {
      throw new CheckpointException(
          "the one of step %d cannot be used: %s".formatted(step, e.getMessage()), e.otherModel());
    }
  }

  /**
   * The parameters of a copy of a checkpoint.
   *
   * @param jobUid of the job that saved it
   * @throws CheckpointException if it cannot be used; the message names the file and says why
   * @throws IOException if it cannot be read
   */
  public static TrainedParameters of(Path file, String jobUid, int parameters, int statistics)
      throws IOException {
    try {
      return read(file, jobUid, parameters, statistics);
    } catch (CheckpointException e) {
      throw new CheckpointException(
          "%s cannot be used: %s".formatted(file, e.getMessage()), e.otherModel());
    }
  }

  private static TrainedParameters read(Path file, String jobUid, int parameters, int statistics)
      throws IOException {
    TrainingState state =
        CheckpointFile.readPart(
            file,
            jobUid,
            List.of(
                new Section.Form(TrainingState.STEP, Section.Type.I64, 1),
                new Section.Form(TrainingState.PARAMETERS, Section.Type.F32, parameters),
                new Section.Form(TrainingState.STATISTICS, Section.Type.F32, statistics)));
    return new TrainedParameters(
        state.step(),
        state.section(TrainingState.PARAMETERS).floats(),
        state.section(TrainingState.STATISTICS).floats());
  }

  /** Steps for which a file exists, newest first; none where the job has no directory yet. */
  public List<Long> steps() throws IOException {
    return Files.isDirectory(directory) ? CheckpointStore.steps(directory) : List.of();
  }
}
