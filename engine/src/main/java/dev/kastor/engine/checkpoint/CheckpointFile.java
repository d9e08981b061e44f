package dev.kastor.engine.checkpoint;

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
  private static final long MAGIC = 0x4b41_5354_4f52_434bL;
  private static final int VERSION = 1;
  private static final int HEADER_BYTES = 24;
  private static final int TRAILER_BYTES = 4;
  private static final int MAX_UID_BYTES = 1024;
  private static final long CHUNK_BYTES = 16L << 20;
  private static final int PIECE_BYTES = 1 << 20;

  private CheckpointFile() {}

  /** Writes and fsyncs a new file; returns its size. */
  static long write(Path file, String jobUid, TrainingState state) throws IOException {
    byte[] uid = jobUid.getBytes(StandardCharsets.UTF_8);
    if (uid.length > MAX_UID_BYTES) {
      throw new IllegalArgumentException(
          "The job uid may have at most %d bytes but has %d.".formatted(MAX_UID_BYTES, uid.length));
    }
    long stateBytes = StateCodec.encodedBytes(state);
    ByteBuffer header =
        ByteBuffer.allocate(HEADER_BYTES + uid.length).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(MAGIC).putInt(VERSION).putInt(uid.length).putLong(stateBytes).put(uid).flip();
    CRC32C crc = new CRC32C();
    crc.update(header.duplicate());
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      writeFully(channel, header);
      MemorySegment payload = StateCodec.encode(state, arena);
      for (long at = 0; at < stateBytes; at += CHUNK_BYTES) {
        ByteBuffer chunk =
            payload.asSlice(at, Math.min(CHUNK_BYTES, stateBytes - at)).asByteBuffer();
        crc.update(chunk.duplicate());
        writeFully(channel, chunk);
      }
      ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      writeFully(channel, trailer.putInt((int) crc.getValue()).flip());
      channel.force(true);
      return channel.size();
    }
  }

  /**
   * Reads and checks a file.
   *
   * @param modelBytes the size of the model's encoded state
   * @throws CheckpointException if the file is not a whole checkpoint of this job; the message
   *     gives the reason, not the file's name
   * @throws IOException if it cannot be read
   */
  static TrainingState read(Path file, String jobUid, long modelBytes) throws IOException {
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      CRC32C crc = new CRC32C();
      Header header = header(channel, crc);
      long stateBytes = header.stateBytes();
      String owner = header.owner();
      if (stateBytes != modelBytes && owner.equals(jobUid)) {
        throw new CheckpointException(
            "its state has %d bytes and the model's %d: it belongs to another version of the program"
                .formatted(stateBytes, modelBytes),
            true);
      }
      if (stateBytes != modelBytes) {
        throw new CheckpointException(foreign(owner, jobUid));
      }
      MemorySegment payload = arena.allocate(stateBytes, Long.BYTES);
      for (long at = 0; at < stateBytes; at += CHUNK_BYTES) {
        ByteBuffer chunk =
            payload.asSlice(at, Math.min(CHUNK_BYTES, stateBytes - at)).asByteBuffer();
        readFully(channel, chunk);
        crc.update(chunk.flip());
      }
      requireChecksum(channel, crc);
      if (!owner.equals(jobUid)) {
        throw new CheckpointException(foreign(owner, jobUid));
      }
      return StateCodec.decode(payload);
    }
  }

  /**
   * Reads and checks a file, and takes the parameters and the statistics of its state alone.
   *
   * @param parameters how many the model at hand has
   * @param statistics how many the model at hand has
   * @throws CheckpointException if the file is not a whole checkpoint of that job, or its state is
   *     of another model; the message gives the reason, not the file's name
   * @throws IOException if it cannot be read
   */
  static TrainedParameters readParameters(Path file, String jobUid, int parameters, int statistics)
      throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      CRC32C crc = new CRC32C();
      Header header = header(channel, crc);
      long start = channel.position();
      ByteBuffer chunk = ByteBuffer.allocate(PIECE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      // All of it before any: lengths of a damaged file would tell of a model that never was.
      for (long left = header.stateBytes(); left > 0; left -= chunk.limit()) {
        chunk.clear().limit((int) Math.min(PIECE_BYTES, left));
        readFully(channel, chunk);
        crc.update(chunk.flip());
      }
      requireChecksum(channel, crc);
      if (!header.owner().equals(jobUid)) {
        throw new CheckpointException(foreign(header.owner(), jobUid));
      }
      channel.position(start);
      MemorySegment fixed = MemorySegment.ofArray(new byte[StateCodec.FIXED_BYTES]);
      readFully(channel, fixed.asByteBuffer());
      StateCodec.Shape shape = StateCodec.shape(fixed, header.stateBytes());
      if (shape.parameters() != parameters || shape.statistics() != statistics) {
        throw new CheckpointException(
            "it holds %d parameters and %d statistics, the model has %d and %d"
                .formatted(shape.parameters(), shape.statistics(), parameters, statistics),
            true);
      }
      float[] trained = floats(channel, chunk, parameters);
      channel.position(channel.position() + (long) Float.BYTES * shape.optimizerState());
      return new TrainedParameters(shape.step(), trained, floats(channel, chunk, statistics));
    }
  }

  private static float[] floats(FileChannel channel, ByteBuffer chunk, int length)
      throws IOException {
    float[] values = new float[length];
    int most = PIECE_BYTES / Float.BYTES;
    for (int at = 0; at < length; at += most) {
      int count = Math.min(most, length - at);
      chunk.clear().limit(count * Float.BYTES);
      readFully(channel, chunk);
      chunk.flip().asFloatBuffer().get(values, at, count);
    }
    return values;
  }

  /** What stands before the state. */
  private record Header(String owner, long stateBytes) {}

  private static Header header(FileChannel channel, CRC32C crc) throws IOException {
    long size = channel.size();
    if (size < HEADER_BYTES + TRAILER_BYTES) {
      throw new CheckpointException("it is truncated: only %d bytes".formatted(size));
    }
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    readFully(channel, header);
    crc.update(header.flip().duplicate());
    long magic = header.getLong();
    int version = header.getInt();
    int uidBytes = header.getInt();
    long stateBytes = header.getLong();
    if (magic != MAGIC) {
      throw new CheckpointException("it does not begin as a checkpoint does");
    }
    if (version != VERSION) {
      throw new CheckpointException(
          "its format version is %d but only %d is known".formatted(version, VERSION));
    }
    if (uidBytes < 0 || uidBytes > MAX_UID_BYTES || stateBytes < 0) {
      throw new CheckpointException("its header holds impossible lengths");
    }
    long expected = HEADER_BYTES + TRAILER_BYTES + uidBytes + stateBytes;
    if (size != expected) {
      throw new CheckpointException(
          "%s: %d bytes instead of %d"
              .formatted(size < expected ? "it is truncated" : "it is too long", size, expected));
    }
    ByteBuffer uid = ByteBuffer.allocate(uidBytes);
    readFully(channel, uid);
    crc.update(uid.flip().duplicate());
    return new Header(StandardCharsets.UTF_8.decode(uid).toString(), stateBytes);
  }

  private static void requireChecksum(FileChannel channel, CRC32C crc) throws IOException {
    ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    readFully(channel, trailer);
    if (trailer.flip().getInt() != (int) crc.getValue()) {
      throw new CheckpointException("its checksum does not match its content");
    }
  }

  private static String foreign(String owner, String jobUid) {
    return "it belongs to the job with uid %s, not %s".formatted(owner, jobUid);
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private static void readFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new CheckpointException("it became shorter while it was read");
      }
    }
  }
}
