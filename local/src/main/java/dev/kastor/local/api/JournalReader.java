package dev.kastor.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reading of a journal, line by line: memory holds one line and the newest state of each object.
 *
 * <p>A line that is no entry is skipped with a warning; what follows it still counts.
 */
final class JournalReader {
  private static final Logger LOG = LoggerFactory.getLogger(JournalReader.class);
  private static final int BUFFER = 1 << 16;

  private final Path file;
  private final Map<String, Entry> newest = new LinkedHashMap<>();
  private long end;

  JournalReader(Path file) {
    this.file = file;
  }

  /** The newest states by uid, in the order of first creation. */
  Map<String, Entry> read() throws IOException {
    if (!Files.exists(file)) {
      return newest;
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER)) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      int number = 1;
      long length = 0;
      for (int next = in.read(); next >= 0; next = in.read()) {
        length++;
        if (next != '\n') {
          if (length <= Journal.MAX_LINE) {
            line.write(next);
          }
          continue;
        }
        take(line.toByteArray(), number, new Place(end, length));
        end += length;
        number++;
        length = 0;
        line.reset();
      }
      if (length > 0) {
        skip(number, "it lacks its end, so its change was never accepted");
      }
    }
    return newest;
  }

  /** Where the last whole line ends. */
  long end() {
    return end;
  }

  private void take(byte[] line, int number, Place place) {
    if (place.length() > Journal.MAX_LINE) {
      skip(number, "it is longer than %d bytes".formatted(Journal.MAX_LINE));
    } else if (line.length > 0) {
      try {
        if (!(Json.MAPPER.readTree(line) instanceof ObjectNode entry)
            || !entry.path("uid").isTextual()) {
          skip(number, "it is no entry of a journal");
        } else if (entry.get("object") instanceof ObjectNode object) {
          newest.put(entry.get("uid").asText(), new Entry(object, place));
        } else {
          newest.remove(entry.get("uid").asText());
        }
      } catch (JsonProcessingException e) {
        skip(number, "it is no JSON");
      } catch (IOException e) {
        skip(number, e.getMessage());
      }
    }
  }

  private void skip(int number, @Nullable String why) {
    LOG.warn("{} line {} is skipped: {}", file, number, why);
  }

  /**
   * Bytes of a line in the file.
   *
   * @param offset where it starts
   * @param length its bytes with the line's end
   */
  record Place(long offset, long length) {}

  /**
   * The newest state of an object.
   *
   * @param object the state
   * @param place where it stands
   */
  record Entry(ObjectNode object, Place place) {}
}
