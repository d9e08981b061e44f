package dev.kastor.traces;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes a file whole or not at all, also if the process is killed on the way. */
public final class AtomicFile {
  private AtomicFile() {}

  /** Replaces the file's content; a reader sees the old one or the new one, never a part. */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** The same for bytes. */
  public static void write(Path file, byte[] bytes) throws IOException {
    Path folder = folder(file);
    Files.createDirectories(folder);
    // A plain file has the permissions that its user's other files have; a temporary one has not.
    Path part =
        folder.resolve(".%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid()));
    try {
      try (FileChannel channel =
          FileChannel.open(
              part,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        channel.force(true);
      }
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /**
   * Fails now, rather than after long work, if a file could not be written.
   *
   * @throws IOException whose message names the file and says why
   */
  public static void check(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException("%s is a folder. Name a file.".formatted(file));
    }
    Path folder = folder(file);
    while (!Files.exists(folder) && folder.getParent() != null) {
      folder = folder.getParent();
    }
    if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
      throw new IOException(
          "%s cannot be written: %s is not a folder that you may write to".formatted(file, folder));
    }
  }

  private static Path folder(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null) {
      throw new IOException("%s is not a file".formatted(file));
    }
    return folder;
  }
}
