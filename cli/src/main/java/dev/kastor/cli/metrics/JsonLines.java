package dev.kastor.cli.metrics;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** JSON lines: one point as an object in a line, as the Python client writes them too. */
final class JsonLines implements LineCodec {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A point as it is written; the time as ISO 8601. */
  private record Line(String time, long step, String name, double value) {}

  @Override
  public String ending() {
    return ".jsonl";
  }

  @Override
  public @Nullable String head() {
    return null;
  }

  @Override
  public String line(Point point) {
    String time = Instant.ofEpochMilli(point.epochMillis()).toString();
    try {
      return JSON.writeValueAsString(new Line(time, point.step(), point.name(), point.value()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a point is always JSON", e);
    }
  }

  @Override
  public @Nullable Point point(String line) {
    try {
      JsonNode read = JSON.readTree(line);
      boolean whole =
          read.path("time").isTextual()
              && read.path("step").isIntegralNumber()
              && read.path("name").isTextual()
              && read.path("value").isNumber();
      return whole
          ? new Point(
              read.path("name").asText(),
              Instant.parse(read.path("time").asText()).toEpochMilli(),
              read.path("step").asLong(),
              read.path("value").asDouble())
          : null;
    } catch (JsonProcessingException | DateTimeParseException e) {
      return null;
    }
  }
}
