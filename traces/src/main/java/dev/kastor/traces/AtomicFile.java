package dev.kastor.traces;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes a file whole or not at all. */
public final class AtomicFile {
  private AtomicFile() {}

  /** Replaces the file's content; a reader sees the old one or the new one, never a part. */
  public static void write(Path file, String text) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null) {
      throw new IOException("%s is not a file".formatted(file));
    }
    Files.createDirectories(folder);
    // A plain file has the permissions that its user's other files have; a temporary one has not.
    Path part =
        folder.resolve(".%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid()));
    try {
      Files.writeString(part, text);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }
}
