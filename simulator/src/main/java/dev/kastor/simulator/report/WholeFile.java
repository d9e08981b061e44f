package dev.kastor.simulator.report;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes a file that appears whole or not at all, also if the process is killed on the way. */
public final class WholeFile {
  private WholeFile() {}

  /** Writes text in UTF-8, in place of what was there. */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes bytes, in place of what was there. */
  public static void write(Path file, byte[] bytes) throws IOException {
    Path folder = folder(file);
    Files.createDirectories(folder);
    // Not a file of createTempFile: that one only its owner may read.
    Path temporary =
        folder.resolve(".%s.%d.tmp".formatted(file.getFileName(), ProcessHandle.current().pid()));
    try {
      try (FileChannel channel =
          FileChannel.open(
              temporary,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
          channel.write(left);
        }
        channel.force(true);
      }
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /**
   * Fails now rather than after a long replay if a file could not be written.
   *
   * @throws IOException whose message names the file and says why
   */
  public static void check(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException("%s is a folder; name a file".formatted(file));
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

  private static Path folder(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file.toAbsolutePath() : parent;
  }
}
