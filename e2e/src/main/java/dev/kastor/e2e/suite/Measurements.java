package dev.kastor.e2e.suite;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Times that the suite has measured, one JSON line each in {@code measurements.jsonl} among the
 * logs.
 *
 * <p>Thread-safe.
 */
public final class Measurements {
  private static final Path FILE =
      Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."), "measurements.jsonl");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, List<Duration>> taken = new TreeMap<>();

  /**
   * Notes one.
   *
   * @param what such as {@code rescale}
   * @param of which job, node or run it was
   */
  public synchronized void add(String what, String of, Duration time) {
    taken.computeIfAbsent(what, key -> new ArrayList<>()).add(time);
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", Instant.now().toString());
    line.put("what", what);
    line.put("of", of);
    line.put("millis", time.toMillis());
    try {
      Files.writeString(
          FILE,
          JSON.writeValueAsString(line) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a map of strings and numbers can always be written", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public synchronized Spread of(String what) {
    return new Spread(taken.getOrDefault(what, List.of()));
  }

  /** Says all of them, summed up. */
  public synchronized void summary() {
    taken.forEach((what, times) -> Progress.say(what + ": " + new Spread(times)));
  }
}
