package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * The format of one checkpoint file.
 *
 * <p>Little-endian: magic (8 bytes), version (4), length of the job uid (4), length of the state
 * (8), job uid (UTF-8), state ({@link StateCodec}), CRC-32C of all before it (4). Every length is
 * held against the file's size, and the state's against the model, before memory is taken: a file
 * with holes is longer than what was ever written.
 */
final class CheckpointFile {
  static final long MAGIC = 0x4b41_5354_4f52_434bL;
  static final int HEADER_BYTES = 24;
  static final int TRAILER_BYTES = 4;
  static final int MAX_UID_BYTES = 1024;
  static final int PIECE_BYTES = 1 << 20;

  private CheckpointFile() {}

  /** Writes and fsyncs a new file; returns its size. */
  static long write(Path file, String jobUid, TrainingState state) throws IOException {
    byte[] uid = jobUid.getBytes(StandardCharsets.UTF_8);
    if (uid.length > MAX_UID_BYTES) {
      throw new IllegalArgumentException(
          "The job uid may have at most %d bytes but has %d.".formatted(MAX_UID_BYTES, uid.length));
    }
    byte[] table = StateCodec.table(state.forms());
    ByteBuffer head =
        ByteBuffer.allocate(HEADER_BYTES + uid.length + table.length)
            .order(ByteOrder.LITTLE_ENDIAN);
    head.putLong(MAGIC).putInt(StateCodec.VERSION).putInt(uid.length);
    head.putLong(StateCodec.encodedBytes(state.forms())).put(uid).put(table);
    CRC32C crc = new CRC32C();
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      write(channel, head.flip(), crc);
      ByteBuffer piece = arena.allocate(PIECE_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      for (Section section : state.sections()) {
        write(channel, section.values(), piece, crc);
      }
      write(channel, piece.clear().putInt((int) crc.getValue()).flip(), crc);
      channel.force(true);
      return channel.size();
    }
  }

  private static void write(FileChannel channel, MemorySegment values, ByteBuffer piece, CRC32C crc)
      throws IOException {
    MemorySegment target = MemorySegment.ofBuffer(piece.clear());
    for (long at = 0; at < values.byteSize(); at += PIECE_BYTES) {
      int count = (int) Math.min(PIECE_BYTES, values.byteSize() - at);
      MemorySegment.copy(values, at, target, 0, count);
      write(channel, piece.clear().limit(count), crc);
    }
  }

  private static void write(FileChannel channel, ByteBuffer bytes, CRC32C crc) throws IOException {
    crc.update(bytes.duplicate());
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /**
   * Reads and checks a file.
   *
   * @param model sections of the model at hand
   * @throws CheckpointException if the file is not a whole checkpoint of this job; the message
   *     gives the reason, not the file's name
   * @throws IOException if it cannot be read
   */
  static TrainingState read(Path file, String jobUid, List<Section.Form> model) throws IOException {
    try (CheckpointReader reader = new CheckpointReader(file)) {
      if (reader.stateBytes() != reader.stateBytes(model)) {
        requireOwner(reader, jobUid);
        throw other(told(reader, model));
      }
      List<Section.Form> held;
      try {
        held = reader.forms(model);
      } catch (CheckpointException e) {
        reader.requireWhole();
        throw e;
      }
      Optional<String> difference = difference(held, model);
      if (difference.isPresent()) {
        // Damage would tell of a model that never was.
        reader.requireWhole();
        requireOwner(reader, jobUid);
        throw other(difference.get());
      }
      TrainingState state = read(reader, held, model);
      reader.requireWhole();
      requireOwner(reader, jobUid);
      return state;
    }
  }

  /**
   * Reads and checks a file, and takes some of its sections alone.
   *
   * @param wanted what the model at hand needs
   * @throws CheckpointException if the file is not a whole checkpoint of that job, or its state is
   *     of another model; the message gives the reason, not the file's name
   * @throws IOException if it cannot be read
   */
  static TrainingState readPart(Path file, String jobUid, List<Section.Form> wanted)
      throws IOException {
    try (CheckpointReader reader = new CheckpointReader(file)) {
      // All of it before any: a damaged table would tell of a model that never was.
      reader.requireWhole();
      requireOwner(reader, jobUid);
      reader.backToState();
      List<Section.Form> held = reader.forms(wanted);
      Set<String> names = wanted.stream().map(Section.Form::name).collect(Collectors.toSet());
      Optional<String> difference =
          difference(held.stream().filter(form -> names.contains(form.name())).toList(), wanted);
      if (difference.isPresent()) {
        throw new CheckpointException(difference.get(), true);
      }
      return read(reader, held, wanted);
    }
  }

  private static TrainingState read(
      CheckpointReader reader, List<Section.Form> held, List<Section.Form> wanted)
      throws IOException {
    TrainingState state = TrainingState.zeros(wanted);
    Set<String> names = wanted.stream().map(Section.Form::name).collect(Collectors.toSet());
    for (Section.Form form : held) {
      if (names.contains(form.name())) {
        reader.read(state.section(form.name()).values());
      } else {
        reader.skip(form.bytes());
      }
    }
    return state;
  }

  /** Why the bytes of a state are more or fewer than those of the model. */
  private static String told(CheckpointReader reader, List<Section.Form> model) throws IOException {
    String bytes =
        "its state has %d bytes and the model's %d"
            .formatted(reader.stateBytes(), reader.stateBytes(model));
    try {
      return difference(reader.forms(model), model).orElse(bytes);
    } catch (CheckpointException e) {
      return bytes;
    }
  }

  private static Optional<String> difference(List<Section.Form> held, List<Section.Form> model) {
    return TrainingState.difference(
        held.stream().filter(form -> !form.equals(FirstVersion.LENGTHS)).toList(), model);
  }

  private static CheckpointException other(String difference) {
    return new CheckpointException(
        difference + ": it belongs to another version of the program", true);
  }

  private static void requireOwner(CheckpointReader reader, String jobUid)
      throws CheckpointException {
    if (!reader.owner().equals(jobUid)) {
      throw new CheckpointException(
          "it belongs to the job with uid %s, not %s".formatted(reader.owner(), jobUid));
    }
  }
}
