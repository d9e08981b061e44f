package dev.kastor.e2e.image;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Writes a tar archive in the ustar format of POSIX.1-1988.
 *
 * <p>Everything belongs to root and dates from 1970, so that the same content makes the same
 * archive.
 */
final class Tar implements AutoCloseable {
  private static final int BLOCK = 512;
  private static final int NAME_BYTES = 100;
  private static final int PREFIX_BYTES = 155;
  private static final char FILE = '0';
  private static final char FOLDER = '5';

  private final OutputStream out;

  /** Writes to a stream and closes it in the end. */
  Tar(OutputStream out) {
    this.out = out;
  }

  /** Adds a folder; its parents come first. */
  void folder(String path, int mode) throws IOException {
    out.write(header(path + "/", FOLDER, mode, 0));
  }

  /** Adds a file. */
  void file(String path, int mode, Path content) throws IOException {
    long size = Files.size(content);
    out.write(header(path, FILE, mode, size));
    long copied = Files.copy(content, out);
    if (copied != size) {
      throw new IOException("%s changed while it was read".formatted(content));
    }
    out.write(new byte[(int) Math.floorMod(-size, (long) BLOCK)]);
  }

  @Override
  public void close() throws IOException {
    out.write(new byte[2 * BLOCK]);
    out.close();
  }

  private static byte[] header(String path, char type, int mode, long size) throws IOException {
    byte[] header = new byte[BLOCK];
    int cut = cut(path);
    put(header, 0, path.substring(cut == 0 ? 0 : cut + 1));
    put(header, 100, "%07o".formatted(mode));
    put(header, 108, "%07o".formatted(0));
    put(header, 116, "%07o".formatted(0));
    put(header, 124, "%011o".formatted(size));
    put(header, 136, "%011o".formatted(0));
    header[156] = (byte) type;
    put(header, 257, "ustar");
    put(header, 263, "00");
    put(header, 345, path.substring(0, cut));
    // The sum is taken with its own field full of spaces.
    Arrays.fill(header, 148, 156, (byte) ' ');
    int sum = 0;
    for (byte value : header) {
      sum += Byte.toUnsignedInt(value);
    }
    put(header, 148, "%06o\0".formatted(sum));
    return header;
  }

  /** Where a path that is too long for the name's field is cut in two; 0 if it need not be. */
  private static int cut(String path) throws IOException {
    int length = path.getBytes(StandardCharsets.UTF_8).length;
    if (length <= NAME_BYTES) {
      return 0;
    }
    int cut = path.indexOf('/', Math.max(1, length - NAME_BYTES - 1));
    if (cut < 0 || cut > PREFIX_BYTES || length != path.length()) {
      throw new IOException("the path is too long for a tar archive: " + path);
    }
    return cut;
  }

  private static void put(byte[] header, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, header, at, bytes.length);
  }
}
