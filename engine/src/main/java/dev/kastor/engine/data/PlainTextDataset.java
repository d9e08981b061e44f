package dev.kastor.engine.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads a text file as bytes, whatever its encoding. */
public final class PlainTextDataset {
  private static final long MAX_BYTES = 1L << 30;

  private PlainTextDataset() {}

  /**
   * Reads a file.
   *
   * @param leastBytes what a model needs at least in each of the two parts
   */
  public static Text read(Path file, int leastBytes) throws DataException {
    size(file, leastBytes);
    try (InputStream in = Files.newInputStream(file)) {
      return Text.split(in.readAllBytes());
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }

  /**
   * The bytes of the training part of a file, which is not read.
   *
   * @param leastBytes what a model needs at least in each of the two parts
   */
  public static int trainingBytes(Path file, int leastBytes) throws DataException {
    int size = size(file, leastBytes);
    return size - Text.heldOutBytes(size);
  }

  private static int size(Path file, int leastBytes) throws DataException {
    long size = DataFile.size(file);
    if (size > MAX_BYTES) {
      throw new DataException(file, "its size of %d bytes is above %d".formatted(size, MAX_BYTES));
    }
    if (Text.heldOutBytes((int) size) < leastBytes) {
      throw new DataException(
          file,
          "%d bytes are too few: the held-out tenth must have at least %d"
              .formatted(size, leastBytes));
    }
    return (int) size;
  }
}
