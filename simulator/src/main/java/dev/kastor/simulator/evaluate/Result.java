package dev.kastor.simulator.evaluate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.run.Outcome;
import java.util.Optional;

/**
 * What is kept of a replay.
 *
 * @param figures what is compared
 * @param cpuSeconds what it cost the replaying thread
 */
public record Result(Figures figures, double cpuSeconds) {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String CPU = "cpuSeconds";

  static Result of(Outcome outcome) {
    return new Result(Figures.of(outcome), outcome.replay().cpuSeconds());
  }

  ObjectNode json() {
    ObjectNode json = MAPPER.createObjectNode();
    json.put(CPU, cpuSeconds);
    figures.put(json);
    return json;
  }

  /** Empty if something is missing. */
  static Optional<Result> of(JsonNode json) {
    return Figures.of(json).map(figures -> new Result(figures, json.path(CPU).asDouble()));
  }
}
