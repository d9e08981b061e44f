package dev.kastor.engine.saving;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of saves, safe against a kill at any moment.
 *
 * <p>Pieces of a save go to the folder {@code saving-N}; once all are durable it is renamed to
 * {@code step-N}, which so stands for whole saves alone.
 */
final class SaveFolder {
  private static final Logger LOG = LoggerFactory.getLogger(SaveFolder.class);
  private static final String COUNT = "count";
  private static final Pattern STEP = Pattern.compile("step-([0-9]{1,18})");

  private final Path folder;
  private final int keepLast;

  SaveFolder(Path folder, int keepLast) {
    this.folder = folder;
    this.keepLast = keepLast;
  }

  /** Makes one piece of a save durable. */
  void write(long step, int number, PieceFile piece) throws IOException {
    Path place = Files.createDirectories(folder.resolve("saving-" + step));
    piece.write(place.resolve(number + PieceFile.SUFFIX));
  }

  /** Says that all pieces of a save are there, and removes older saves than are kept. */
  void commit(long step, int pieces) throws IOException {
    Path place = folder.resolve("saving-" + step);
    for (int i = 0; i < pieces; i++) {
      if (!Files.exists(place.resolve(i + PieceFile.SUFFIX))) {
        throw new SaveException(place, "lacks piece " + i);
      }
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(place)) {
      for (Path entry : entries) {
        // Of an attempt that was killed, perhaps with more pieces.
        Integer number = number(entry);
        if (number == null || number >= pieces) {
          Files.delete(entry);
        }
      }
    }
    Files.writeString(place.resolve(COUNT), Integer.toString(pieces));
    try (FileChannel channel = FileChannel.open(place.resolve(COUNT), StandardOpenOption.WRITE)) {
      channel.force(true);
    }
    sync(place);
    Path done = folder.resolve("step-" + step);
    if (isWhole(step)) {
      remove(place); // It was saved before: steps are the same whoever takes them.
    } else {
      if (Files.isDirectory(done)) {
        remove(done);
      }
      Files.move(place, done, StandardCopyOption.ATOMIC_MOVE);
    }
    sync(folder);
    for (long old : steps().stream().skip(keepLast).toList()) {
      remove(folder.resolve("step-" + old));
    }
    removeAttempts(step);
  }

  private static @Nullable Integer number(Path file) {
    String name = file.getFileName().toString();
    return name.matches("[0-9]{1,9}\\" + PieceFile.SUFFIX)
        ? Integer.valueOf(name.substring(0, name.length() - PieceFile.SUFFIX.length()))
        : null;
  }

  private void removeAttempts(long before) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, "saving-*")) {
      for (Path entry : entries) {
        String number = entry.getFileName().toString().substring("saving-".length());
        if (number.matches("[0-9]{1,18}") && Long.parseLong(number) < before) {
          remove(entry);
        }
      }
    }
  }

  private static void remove(Path place) throws IOException {
    // Under another name first, so that nobody takes what is left for a save.
    Path doomed = place.resolveSibling("removed-" + place.getFileName());
    delete(doomed);
    Files.move(place, doomed, StandardCopyOption.ATOMIC_MOVE);
    delete(doomed);
  }

  private static void delete(Path place) throws IOException {
    if (!Files.isDirectory(place)) {
      return;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(place)) {
      for (Path entry : entries) {
        Files.deleteIfExists(entry);
      }
    }
    Files.deleteIfExists(place);
  }

  private static void sync(Path place) throws IOException {
    try (FileChannel channel = FileChannel.open(place, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Steps that were saved, the newest first. */
  List<Long> steps() throws IOException {
    List<Long> steps = new ArrayList<>();
    if (!Files.isDirectory(folder)) {
      return steps;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, "step-*")) {
      for (Path entry : entries) {
        Matcher matcher = STEP.matcher(entry.getFileName().toString());
        if (matcher.matches()) {
          steps.add(Long.parseLong(matcher.group(1)));
        }
      }
    }
    steps.sort(Comparator.reverseOrder());
    return steps;
  }

  /** The newest step all of whose pieces are whole; what is not is logged. */
  Optional<Long> newest() throws IOException {
    for (long step : steps()) {
      if (isWhole(step)) {
        return Optional.of(step);
      }
    }
    return Optional.empty();
  }

  private boolean isWhole(long step) throws IOException {
    if (!Files.isDirectory(folder.resolve("step-" + step))) {
      return false;
    }
    try (Arena arena = Arena.ofConfined()) {
      return !pieces(step, arena).isEmpty();
    } catch (SaveException | NoSuchFileException e) {
      LOG.warn("skips a save: {}", e.getMessage());
      return false;
    }
  }

  private List<PieceFile> pieces(long step, Arena arena) throws IOException {
    Path place = folder.resolve("step-" + step);
    List<PieceFile> pieces = new ArrayList<>();
    String count = Files.readString(place.resolve(COUNT));
    if (!count.matches("[1-9][0-9]{0,8}")) {
      throw new SaveException(place.resolve(COUNT), "holds no number of pieces");
    }
    for (int i = 0; i < Integer.parseInt(count); i++) {
      pieces.add(PieceFile.read(place.resolve(i + PieceFile.SUFFIX), arena));
    }
    return pieces;
  }

  /**
   * Reads rows of a tensor, whoever saved which of them.
   *
   * @param to receives row {@code first + i * every} as row {@code i}
   */
  void read(
      long step, String tensor, int first, int every, int rows, int rowBytes, MemorySegment to)
      throws IOException {
    Path place = folder.resolve("step-" + step);
    try (Arena arena = Arena.ofConfined()) {
      List<PieceFile> pieces =
          pieces(step, arena).stream().filter(piece -> piece.tensor().equals(tensor)).toList();
      for (int i = 0; i < rows; i++) {
        long row = first + (long) i * every;
        PieceFile holder = null;
        for (PieceFile piece : pieces) {
          long offset = row - piece.first();
          if (offset >= 0 && offset % piece.every() == 0 && offset / piece.every() < piece.rows()) {
            holder = piece;
          }
        }
        if (holder == null) {
          throw new SaveException(place, "has no row %d of %s".formatted(row, tensor));
        }
        if (holder.rowBytes() != rowBytes) {
          throw new SaveException(
              place,
              "has rows of %d bytes of %s, not %d".formatted(holder.rowBytes(), tensor, rowBytes));
        }
        long from = (row - holder.first()) / holder.every() * rowBytes;
        MemorySegment.copy(holder.data(), from, to, (long) i * rowBytes, rowBytes);
      }
    }
  }
}
