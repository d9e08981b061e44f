package dev.kastor.simulator.sweep;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finished runs, one line each, behind a line that says what they belong to. A line counts once its
 * line end is on disk; what a killed process left of a line is cut off. One process at a time holds
 * it.
 */
public final class Journal implements Closeable {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String SWEEP = "sweep";
  private static final String RUN = "run";

  private final FileChannel channel;
  private final Map<String, ObjectNode> entries;

  private Journal(FileChannel channel, Map<String, ObjectNode> entries) {
    this.channel = channel;
    this.entries = entries;
  }

  /**
   * Opens a journal of what has this fingerprint, or begins one.
   *
   * @throws SweepException if the file holds something else or is in use
   */
  public static Journal open(Path file, String fingerprint) throws IOException, SweepException {
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      lock(channel, file);
      Map<String, ObjectNode> entries = read(channel, file, fingerprint);
      Journal journal = new Journal(channel, entries);
      if (channel.position() == 0) {
        journal.append(MAPPER.createObjectNode().put(SWEEP, fingerprint));
      }
      return journal;
    } catch (IOException | SweepException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private static void lock(FileChannel channel, Path file) throws IOException, SweepException {
    @Nullable FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      throw new SweepException(
          "another process is writing %s. Wait for it or name another output.".formatted(file));
    }
  }

  private static Map<String, ObjectNode> read(FileChannel channel, Path file, String fingerprint)
      throws IOException, SweepException {
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // Until all is there.
    }
    String text = new String(bytes.array(), StandardCharsets.UTF_8);
    String begin = "{\"%s\":\"".formatted(SWEEP);
    if (!text.isEmpty() && !text.startsWith(begin) && !begin.startsWith(text)) {
      throw new SweepException("%s is not a journal. Name another file.".formatted(file));
    }
    int whole = text.lastIndexOf('\n') + 1;
    Map<String, ObjectNode> entries = new LinkedHashMap<>();
    boolean first = true;
    for (String line : text.substring(0, whole).lines().toList()) {
      JsonNode json = parse(line, file);
      if (first && !json.path(SWEEP).asText().equals(fingerprint)) {
        throw new SweepException(
            "%s belongs to a sweep with other settings or other input files. Repeat that sweep, name another output, or remove the file to begin anew."
                .formatted(file));
      }
      if (!first && json instanceof ObjectNode entry) {
        entries.put(entry.path(RUN).asText(), entry);
      }
      first = false;
    }
    int kept = text.substring(0, whole).getBytes(StandardCharsets.UTF_8).length;
    channel.truncate(kept);
    channel.position(kept);
    return entries;
  }

  private static JsonNode parse(String line, Path file) throws SweepException {
    try {
      return MAPPER.readTree(line);
    } catch (JsonProcessingException e) {
      throw new SweepException(
          "%s is damaged: '%s' is not JSON. Remove the file to begin anew."
              .formatted(file, line.length() > 60 ? line.substring(0, 60) + "..." : line));
    }
  }

  /** Finished runs by their key. */
  public synchronized Map<String, ObjectNode> entries() {
    return new LinkedHashMap<>(entries);
  }

  /** Adds a finished run; it is on disk when this returns. */
  public synchronized void add(String run, ObjectNode entry) throws IOException {
    entry.put(RUN, run);
    append(entry);
    entries.put(run, entry);
  }

  private void append(ObjectNode line) throws IOException {
    ByteBuffer left =
        ByteBuffer.wrap((MAPPER.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8));
    while (left.hasRemaining()) {
      channel.write(left);
    }
    channel.force(false);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
