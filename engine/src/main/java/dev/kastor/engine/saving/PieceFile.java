package dev.kastor.engine.saving;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The file of one piece.
 *
 * <p>Little-endian: magic (4 bytes), length of the tensor's name (4), first row, distance of rows,
 * rows, bytes of a row (4 each), the name (UTF-8), the rows, CRC-32C of all before it (4). Lengths
 * are held against the size of the file before anything is taken for true.
 *
 * @param tensor the name of the whole
 * @param data the rows; valid as long as the arena that they were read into
 */
record PieceFile(String tensor, int first, int every, int rows, int rowBytes, MemorySegment data) {
  static final String SUFFIX = ".piece";
  private static final int MAGIC = 0x4B504331; // "KPC1"
  private static final int HEADER_BYTES = 24;
  private static final int TRAILER_BYTES = 4;
  private static final int MOST_NAME_BYTES = 1024;
  private static final long CHUNK = 1 << 24;

  /** Writes a file under its name, whole or not at all, and makes it durable. */
  void write(Path file) throws IOException {
    byte[] name = tensor.getBytes(StandardCharsets.UTF_8);
    ByteBuffer header =
        ByteBuffer.allocate(HEADER_BYTES + name.length).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(MAGIC).putInt(name.length).putInt(first).putInt(every).putInt(rows);
    header.putInt(rowBytes).put(name).flip();
    Path temporary = file.resolveSibling(file.getFileName() + "." + UUID.randomUUID() + ".tmp");
    try {
      try (FileChannel channel =
          FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        CRC32C crc = new CRC32C();
        writeFully(channel, header, crc);
        long bytes = (long) rows * rowBytes;
        for (long at = 0; at < bytes; at += CHUNK) {
          writeFully(channel, data.asSlice(at, Math.min(CHUNK, bytes - at)).asByteBuffer(), crc);
        }
        ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        writeFully(channel, trailer.putInt((int) crc.getValue()).flip(), new CRC32C());
        channel.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes, CRC32C crc)
      throws IOException {
    crc.update(bytes.duplicate());
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  /**
   * Reads and checks a file.
   *
   * @throws SaveException if it is damaged; names it
   */
  static PieceFile read(Path file, Arena arena) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size < HEADER_BYTES + TRAILER_BYTES) {
        throw new SaveException(file, "is truncated: it has only %d bytes".formatted(size));
      }
      MemorySegment all = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
      ByteBuffer header =
          all.asSlice(0, HEADER_BYTES).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      if (header.getInt() != MAGIC) {
        throw new SaveException(file, "does not begin as a piece does");
      }
      int nameBytes = header.getInt();
      int first = header.getInt();
      int every = header.getInt();
      int rows = header.getInt();
      int rowBytes = header.getInt();
      boolean possible =
          nameBytes > 0
              && nameBytes <= MOST_NAME_BYTES
              && first >= 0
              && every > 0
              && rows > 0
              && rowBytes > 0;
      long data = (long) rows * rowBytes;
      if (!possible || size != HEADER_BYTES + nameBytes + data + TRAILER_BYTES) {
        throw new SaveException(file, "has %d bytes, which is not what it says".formatted(size));
      }
      CRC32C crc = new CRC32C();
      long checked = size - TRAILER_BYTES;
      for (long at = 0; at < checked; at += CHUNK) {
        crc.update(all.asSlice(at, Math.min(CHUNK, checked - at)).asByteBuffer());
      }
      int sum =
          all.asSlice(checked, TRAILER_BYTES)
              .asByteBuffer()
              .order(ByteOrder.LITTLE_ENDIAN)
              .getInt();
      if (sum != (int) crc.getValue()) {
        throw new SaveException(file, "has a checksum that does not match its content");
      }
      byte[] name = new byte[nameBytes];
      all.asSlice(HEADER_BYTES, nameBytes).asByteBuffer().get(name);
      return new PieceFile(
          new String(name, StandardCharsets.UTF_8),
          first,
          every,
          rows,
          rowBytes,
          all.asSlice(HEADER_BYTES + nameBytes, data));
    }
  }
}
