package dev.kastor.engine.checkpoint;

import dev.kastor.engine.train.Section;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.zip.CRC32C;

/** Reader of one checkpoint file from its begin to its checksum. One thread uses it. */
final class CheckpointReader implements AutoCloseable {
  private final FileChannel channel;
  private final CRC32C crc = new CRC32C();
  private final Arena arena;
  private final ByteBuffer piece;

  private int version;
  private String owner = "";
  private long stateBytes;
  private long left;

  /**
   * Opens a file and reads its header.
   *
   * @throws CheckpointException if it is none, or has another length than it says
   */
  CheckpointReader(Path file) throws IOException {
    // A pipe that nobody writes to would never open.
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new CheckpointException("it is no regular file");
    }
    channel = FileChannel.open(file, StandardOpenOption.READ);
    arena = Arena.ofConfined();
    piece =
        arena.allocate(CheckpointFile.PIECE_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    try {
      readHeader();
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private void readHeader() throws IOException {
    long size = channel.size();
    if (size < CheckpointFile.HEADER_BYTES + CheckpointFile.TRAILER_BYTES) {
      throw new CheckpointException("it is truncated: only %d bytes".formatted(size));
    }
    ByteBuffer header = next(CheckpointFile.HEADER_BYTES);
    long magic = header.getLong();
    version = header.getInt();
    int uidBytes = header.getInt();
    stateBytes = header.getLong();
    if (magic != CheckpointFile.MAGIC) {
      throw new CheckpointException("it does not begin as a checkpoint does");
    }
    if (version != StateCodec.VERSION && version != FirstVersion.VERSION) {
      throw new CheckpointException(
          "its format version is %d but only %d and %d are known: a newer Kastor may have written it"
              .formatted(version, FirstVersion.VERSION, StateCodec.VERSION),
          version > StateCodec.VERSION);
    }
    if (uidBytes < 0 || uidBytes > CheckpointFile.MAX_UID_BYTES || stateBytes < 0) {
      throw new CheckpointException("its header holds impossible lengths");
    }
    long expected =
        CheckpointFile.HEADER_BYTES + CheckpointFile.TRAILER_BYTES + uidBytes + stateBytes;
    if (size != expected) {
      throw new CheckpointException(
          "%s: %d bytes instead of %d"
              .formatted(size < expected ? "it is truncated" : "it is too long", size, expected));
    }
    owner = StandardCharsets.UTF_8.decode(next(uidBytes)).toString();
    left = stateBytes;
  }

  /** UID of the job that saved it. */
  String owner() {
    return owner;
  }

  /** Bytes of its state. */
  long stateBytes() {
    return stateBytes;
  }

  /** Bytes that the state of a model would have in this file's version. */
  long stateBytes(List<Section.Form> model) {
    return version == FirstVersion.VERSION
        ? FirstVersion.encodedBytes(model)
        : StateCodec.encodedBytes(model);
  }

  /**
   * The sections of its state in their order; the next bytes are the first one's.
   *
   * @param model sections of the model at hand
   * @throws CheckpointException if what stands there is no table of sections
   */
  List<Section.Form> forms(List<Section.Form> model) throws IOException {
    if (version == FirstVersion.VERSION) {
      if (left < FirstVersion.FIXED_BYTES) {
        throw new CheckpointException("its state has only %d bytes".formatted(left));
      }
      ByteBuffer fixed = piece.clear().limit(FirstVersion.FIXED_BYTES);
      for (long at = channel.position(); fixed.hasRemaining(); ) {
        requireBytes(channel.read(fixed, at + fixed.position()));
      }
      return FirstVersion.forms(fixed.flip(), stateBytes, model);
    }
    if (left < Integer.BYTES) {
      throw new CheckpointException("its state has only %d bytes".formatted(left));
    }
    int length = StateCodec.tableLength(state(Integer.BYTES).getInt(), stateBytes);
    return StateCodec.forms(state(length), stateBytes);
  }

  /** Reads the next bytes of the state. */
  void read(MemorySegment target) throws IOException {
    MemorySegment from = MemorySegment.ofBuffer(piece.clear());
    for (long at = 0; at < target.byteSize(); at += CheckpointFile.PIECE_BYTES) {
      int count = (int) Math.min(CheckpointFile.PIECE_BYTES, target.byteSize() - at);
      state(count);
      MemorySegment.copy(from, 0, target, at, count);
    }
  }

  /** Passes over the next bytes of the state, which count for the checksum. */
  void skip(long bytes) throws IOException {
    for (long done = 0; done < bytes; done += CheckpointFile.PIECE_BYTES) {
      state((int) Math.min(CheckpointFile.PIECE_BYTES, bytes - done));
    }
  }

  /** Reads what is left of the state and compares the checksum. */
  void requireWhole() throws IOException {
    skip(left);
    long computed = crc.getValue();
    if (next(CheckpointFile.TRAILER_BYTES).getInt() != (int) computed) {
      throw new CheckpointException("its checksum does not match its content");
    }
  }

  /** Goes back to the begin of the state; the checksum is not compared again. */
  void backToState() throws IOException {
    channel.position(channel.size() - CheckpointFile.TRAILER_BYTES - stateBytes);
    left = stateBytes;
  }

  private ByteBuffer state(int bytes) throws IOException {
    ByteBuffer read = next(bytes);
    left -= bytes;
    return read;
  }

  private ByteBuffer next(int bytes) throws IOException {
    piece.clear().limit(bytes);
    while (piece.hasRemaining()) {
      requireBytes(channel.read(piece));
    }
    piece.flip();
    crc.update(piece.duplicate());
    return piece;
  }

  private static void requireBytes(int read) throws CheckpointException {
    if (read < 0) {
      throw new CheckpointException("it became shorter while it was read");
    }
  }

  @Override
  public void close() throws IOException {
    try (arena) {
      channel.close();
    }
  }
}
