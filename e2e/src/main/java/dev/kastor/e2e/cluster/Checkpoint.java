package dev.kastor.e2e.cluster;

import dev.kastor.crds.trainingjob.TrainingJob;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.zip.CRC32C;

/** Checkpoints of jobs as they lie on the storage that all nodes share. */
public final class Checkpoint {
  private static final Path STORAGE =
      Path.of(System.getenv().getOrDefault("KASTOR_E2E_CHECKPOINTS", "."));

  private Checkpoint() {}

  /** When the first whole checkpoint of a job was written that is no older than that. */
  public static Optional<Instant> since(TrainingJob job, Instant then) throws IOException {
    Path folder = STORAGE.resolve(job.getMetadata().getName() + "-" + job.getMetadata().getUid());
    Optional<Instant> first = Optional.empty();
    if (!Files.isDirectory(folder)) {
      return first;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "step-*.ckpt")) {
      for (Path file : files) {
        try {
          Instant written = Files.getLastModifiedTime(file).toInstant();
          if (!written.isBefore(then) && isWhole(Files.readAllBytes(file))) {
            first = Optional.of(first.filter(written::isAfter).orElse(written));
          }
        } catch (NoSuchFileException e) {
          // Older ones are removed as newer ones come.
        }
      }
    }
    return first;
  }

  /** Whether its last four bytes are the CRC-32C of all others. */
  private static boolean isWhole(byte[] bytes) {
    int length = bytes.length - Integer.BYTES;
    if (length <= 0) {
      return false;
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length)
        == (int) crc.getValue();
  }
}
