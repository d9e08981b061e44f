package dev.kastor.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps objects of some types in a file, so that they outlive the server: a line of JSON for every
 * change, rewritten to the newest states when it is opened.
 *
 * <p>A line that was cut off by a crash is dropped; it was never followed by another. Guarded by
 * the store's lock.
 */
final class Journal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Journal.class);

  private final BufferedWriter writer;
  private final Predicate<ResourceType> kept;

  private Journal(BufferedWriter writer, Predicate<ResourceType> kept) {
    this.writer = writer;
    this.kept = kept;
  }

  /** What a journal holds, in the order of first creation. */
  static List<ObjectNode> read(Path file) throws IOException {
    Map<String, ObjectNode> newest = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      return List.of();
    }
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      try {
        ObjectNode entry = (ObjectNode) Json.MAPPER.readTree(line);
        String uid = entry.path("uid").asText();
        if (entry.get("object") instanceof ObjectNode object) {
          newest.put(uid, object);
        } else {
          newest.remove(uid);
        }
      } catch (JsonProcessingException | ClassCastException e) {
        LOG.warn("{} ends with half a line; it is dropped", file);
        break;
      }
    }
    return List.copyOf(newest.values());
  }

  /** Starts a journal that holds the given objects, in place of the file's old content. */
  static Journal rewrite(Path file, List<ObjectNode> objects, Predicate<ResourceType> kept)
      throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    Files.createFile(
        fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Journal journal = new Journal(Files.newBufferedWriter(fresh), kept);
    for (ObjectNode object : objects) {
      journal.line(Json.uid(object), object);
    }
    journal.writer.flush();
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    return journal;
  }

  void append(Change change) {
    if (kept.test(change.type())) {
      try {
        line(Json.uid(change.last()), change.after());
        writer.flush();
      } catch (IOException e) {
        throw new UncheckedIOException("the journal of the API server cannot be written", e);
      }
    }
  }

  private void line(String uid, @Nullable ObjectNode object) throws IOException {
    ObjectNode entry = Json.object().put("uid", uid);
    entry.set("object", object);
    writer.write(Json.text(entry));
    writer.newLine();
  }

  @Override
  public void close() throws IOException {
    writer.close();
  }
}
