package dev.kastor.cli.doctor;

import dev.kastor.traces.AtomicFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.SequencedMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;

/** Writes texts as a compressed archive. */
final class TarGz {
  private static final int OWNER_ONLY = 0600;

  private TarGz() {}

  /**
   * Writes the file at once, so that there is either all of it or nothing; its owner alone may read
   * it.
   *
   * @param texts by the name of their entry
   */
  static void write(Path file, SequencedMap<String, String> texts, Instant now) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar =
        new TarArchiveOutputStream(
            new GzipCompressorOutputStream(bytes), StandardCharsets.UTF_8.name())) {
      tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_POSIX);
      for (var text : texts.entrySet()) {
        byte[] content = text.getValue().getBytes(StandardCharsets.UTF_8);
        TarArchiveEntry entry = new TarArchiveEntry(text.getKey());
        entry.setSize(content.length);
        entry.setMode(OWNER_ONLY);
        entry.setModTime(now.toEpochMilli());
        tar.putArchiveEntry(entry);
        tar.write(content);
        tar.closeArchiveEntry();
      }
    }
    AtomicFile.writePrivate(file, bytes.toByteArray());
  }
}
