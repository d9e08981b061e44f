package dev.kastor.simulator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.testkit.PublishedTraces;
import java.io.IOException;

/** JSON files among the published traces. */
public final class TracesJson {
  private TracesJson() {}

  /** A file of them; where it is absent, as {@link PublishedTraces} says. */
  public static JsonNode read(String name) throws IOException {
    return new ObjectMapper().readTree(PublishedTraces.path(name).toFile());
  }
}
