package dev.kastor.engine.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** A binary file read from its beginning, whose errors name the file and the offset. */
final class BinaryFile implements AutoCloseable {
  private final Path file;
  private final InputStream in;
  private long offset;

  /** Opens a file; one whose name ends in {@code .gz} is unpacked on the way. */
  BinaryFile(Path file) throws DataException {
    this.file = file;
    try {
      InputStream raw = Files.newInputStream(file);
      this.in = file.toString().endsWith(".gz") ? new GZIPInputStream(raw, 1 << 16) : raw;
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }

  /** A big-endian 4-byte integer. */
  int readInt(String what) throws DataException {
    byte[] bytes = read(4, what);
    return (bytes[0] & 0xff) << 24
        | (bytes[1] & 0xff) << 16
        | (bytes[2] & 0xff) << 8
        | (bytes[3] & 0xff);
  }

  /** Exactly so many bytes; memory grows only with what the file really holds. */
  byte[] read(int length, String what) throws DataException {
    byte[] bytes;
    try {
      bytes = in.readNBytes(length);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
    if (bytes.length < length) {
      throw new DataException(
          file,
          "truncated at offset %d: %s needs %d bytes from offset %d but only %d follow"
              .formatted(offset + bytes.length, what, length, offset, bytes.length));
    }
    offset += length;
    return bytes;
  }

  /** Checks that nothing follows. */
  void expectEnd() throws DataException {
    try {
      if (in.read() >= 0) {
        throw new DataException(file, "unexpected bytes from offset %d".formatted(offset));
      }
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }

  @Override
  public void close() throws DataException {
    try {
      in.close();
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }
}
