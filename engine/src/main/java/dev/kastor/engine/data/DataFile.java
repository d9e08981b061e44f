package dev.kastor.engine.data;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** File with data, looked at before it is opened: a pipe of that name would be waited for. */
final class DataFile {
  private DataFile() {}

  /**
   * The size of a file that can be read.
   *
   * @throws DataException if it is not there, may not be read, or is no file
   */
  static long size(Path file) throws DataException {
    if (Files.isDirectory(file)) {
      throw new DataException(file, "is a folder, but a file is needed");
    }
    if (!Files.exists(file)) {
      throw new DataException(file, new NoSuchFileException(file.toString()));
    }
    if (!Files.isRegularFile(file)) {
      throw new DataException(file, "is no regular file");
    }
    if (!Files.isReadable(file)) {
      throw new DataException(file, new AccessDeniedException(file.toString()));
    }
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new DataException(file, e);
    }
  }
}
