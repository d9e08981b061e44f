package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.CheckpointInfo;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A job's directory of checkpoints, safe against a kill at any instant.
 *
 * <p>A checkpoint is written to a temporary file, fsynced and renamed into place, and the directory
 * is fsynced before {@link #save} returns; so a name {@code step-N.ckpt} stands for whole files
 * only, and what a failing disk does to them later is found by checksum. Several processes may use
 * one directory at once: temporary names are unique, and a file that another process removes in
 * between counts as absent. One instance is used by one thread at a time.
 */
public final class CheckpointStore {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointStore.class);
  private static final Pattern NAME = Pattern.compile("step-([0-9]{1,18})\\.ckpt");
  private static final String TEMPORARY_SUFFIX = ".tmp";

  /** A temporary file this old was left behind by a killed process. */
  private static final Duration ABANDONED = Duration.ofMinutes(10);

  private final Path directory;
  private final String jobUid;
  private final int keepLast;
  private final InstantSource clock;

  /** Steps whose file this instance wrote or read successfully. */
  private final Set<Long> verified = new HashSet<>();

  /** A restored state and the step its file name gives. */
  public record Loaded(long step, TrainingState state) {}

  /**
   * Opens a directory, creating it where it is missing.
   *
   * @param jobUid written into each file; files of another job are skipped
   * @param keepLast valid checkpoints kept after a save, at least 1
   */
  public CheckpointStore(Path directory, String jobUid, int keepLast, InstantSource clock)
      throws IOException {
    if (keepLast < 1) {
      throw new IllegalArgumentException("keepLast must be at least 1 but is " + keepLast + ".");
    }
    this.directory = Files.createDirectories(directory);
    this.jobUid = jobUid;
    this.keepLast = keepLast;
    this.clock = clock;
  }

  /** Makes a state durable under its step, then removes what retention no longer keeps. */
  public CheckpointInfo save(TrainingState state) throws IOException {
    long step = state.step();
    Path temporary = directory.resolve("step-" + step + "." + UUID.randomUUID() + TEMPORARY_SUFFIX);
    long bytes;
    try {
      bytes = CheckpointFile.write(temporary, jobUid, state);
      rename(temporary, file(step));
    } finally {
      Files.deleteIfExists(temporary);
    }
    syncDirectory();
    verified.add(step);
    Instant saved = clock.instant();
    try {
      applyRetention(step, saved, state.forms());
    } catch (IOException e) {
      // The state is durable, whatever lies beside it.
      LOG.warn(
          "job {}: checkpoints of before could not be looked through: {}", jobUid, e.toString());
    }
    return new CheckpointInfo(step, bytes, saved.toEpochMilli());
  }

  /** Steps for which a file exists, newest first; whether it is valid is not looked at. */
  public List<Long> steps() throws IOException {
    return steps(directory);
  }

  static List<Long> steps(Path directory) throws IOException {
    List<Long> steps = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "step-*.ckpt")) {
      for (Path entry : entries) {
        Matcher matcher = NAME.matcher(entry.getFileName().toString());
        if (matcher.matches()) {
          steps.add(Long.parseLong(matcher.group(1)));
        }
      }
    }
    steps.sort(Comparator.reverseOrder());
    return steps;
  }

  /**
   * The newest checkpoint that is whole; each newer one that is not is logged with the reason.
   *
   * @param model sections of the state of the model at hand
   * @throws IOException if the directory cannot be listed, or if what is in it belongs to another
   *     model: to start from the beginning instead would lose it
   */
  public Optional<Loaded> loadNewestValid(List<Section.Form> model) throws IOException {
    String other = "";
    List<Long> seen = List.of();
    // A busy writer can retire every listed file before it is read; newer ones then exist.
    for (List<Long> steps = steps(); !steps.equals(seen); steps = steps()) {
      seen = steps;
      other = "";
      for (long step : steps) {
        try {
          return Optional.of(new Loaded(step, load(step, model)));
        } catch (NoSuchFileException e) {
          LOG.debug("job {}: the checkpoint of step {} is gone", jobUid, step);
        } catch (IOException e) {
          if (other.isEmpty() && e instanceof CheckpointException c && c.otherModel()) {
            other = String.valueOf(e.getMessage());
          }
          LOG.warn("job {}: skips a checkpoint: {}", jobUid, e.getMessage());
        }
      }
    }
    if (!other.isEmpty()) {
      throw new CheckpointException(
          "No checkpoint in %s is one of this model. %s Go back to the program, optimizer and version of Kastor that wrote it, or remove them."
              .formatted(directory, other));
    }
    return Optional.empty();
  }

  /**
   * The checkpoint of one step.
   *
   * @param model sections of the state of the model at hand
   * @throws NoSuchFileException if there is none
   * @throws CheckpointException if it is damaged or belongs to another job; the message names it
   */
  public TrainingState load(long step, List<Section.Form> model) throws IOException {
    Path file = file(step);
    try {
      TrainingState state = CheckpointFile.read(file, jobUid, model);
      if (state.step() != step) {
        throw new CheckpointException("it holds step " + state.step());
      }
      verified.add(step);
      return state;
    } catch (CheckpointException e) {
      verified.remove(step);
      throw new CheckpointException(
          "Checkpoint %s is unusable: %s.".formatted(file, e.getMessage()), e.otherModel());
    }
  }

  private Path file(long step) {
    return file(directory, step);
  }

  static Path file(Path directory, long step) {
    return directory.resolve("step-" + step + ".ckpt");
  }

  /**
   * Keeps the newest valid files up to the step just saved. Only files known to be valid count, so
   * a damaged one never displaces a good one. Files of later steps stay: they may be another
   * process's. So does what cannot be read and what is no file at all: neither is ours to remove.
   */
  private void applyRetention(long savedStep, Instant now, List<Section.Form> model)
      throws IOException {
    int kept = 0;
    for (long step : steps()) {
      if (step > savedStep) {
        continue;
      }
      try {
        if (kept < keepLast && isValid(step, model)) {
          kept++;
        } else if (isOurs(file(step))) {
          Files.deleteIfExists(file(step));
          verified.remove(step);
        }
      } catch (IOException e) {
        LOG.warn("job {}: leaves {} as it is: {}", jobUid, file(step), e.toString());
      }
    }
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(directory, "step-*" + TEMPORARY_SUFFIX)) {
      for (Path entry : entries) {
        try {
          removeIfAbandoned(entry, now);
        } catch (IOException e) {
          LOG.warn("job {}: leaves {} as it is: {}", jobUid, entry, e.toString());
        }
      }
    }
  }

  /** Whether a file is a checkpoint of this job, or none of anybody's. */
  private boolean isOurs(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (CheckpointReader reader = new CheckpointReader(file)) {
      return reader.owner().equals(jobUid);
    } catch (CheckpointException e) {
      return true;
    }
  }

  private boolean isValid(long step, List<Section.Form> model) throws IOException {
    if (verified.contains(step)) {
      return true;
    }
    try {
      load(step, model);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (CheckpointException e) {
      LOG.warn("job {}: removes a checkpoint: {}", jobUid, e.getMessage());
      return false;
    }
  }

  private static void removeIfAbandoned(Path temporary, Instant now) throws IOException {
    try {
      Instant modified = Files.getLastModifiedTime(temporary).toInstant();
      if (modified.isBefore(now.minus(ABANDONED))) {
        Files.deleteIfExists(temporary);
      }
    } catch (NoSuchFileException e) {
      LOG.debug("{} was renamed or removed by its owner", temporary);
    }
  }

  private static void rename(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      throw new IOException(
          "The file system of %s cannot rename files atomically. Choose another checkpoint directory."
              .formatted(to.getParent()),
          e);
    }
  }

  /** Makes the rename itself durable; POSIX leaves that to an fsync of the directory. */
  private void syncDirectory() throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
