package dev.kastor.simulator.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** Measured decisions as JSON: {@code cases[]}. */
public final class DecideJson {
  /** Says what a file holds, and in which version. */
  public static final String SCHEMA = "kastor.dev/decide/v1";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private DecideJson() {}

  /** The document of some results. */
  public static String of(List<DecideResult> results) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("schema", SCHEMA);
    ArrayNode cases = document.putArray("cases");
    for (DecideResult result : results) {
      DecideCase measured = result.measured();
      ObjectNode json = cases.addObject();
      json.put("policy", measured.policy().toString());
      json.put("jobs", measured.jobs());
      json.put("gpus", measured.gpus());
      json.put("decisions", measured.decisions());
      json.put("meanMillis", rounded(result.full().mean()));
      json.put("p99Millis", rounded(result.full().p99()));
      json.put("maxMillis", rounded(result.full().max()));
      json.put("meanCpuMillis", rounded(result.fullCpu().mean()));
      json.put("p99CpuMillis", rounded(result.fullCpu().p99()));
      json.put("incrementalMeanMillis", rounded(result.incremental().mean()));
      json.put("incrementalP99Millis", rounded(result.incremental().p99()));
      json.put("firstMillis", rounded(result.firstMillis()));
      json.put("aroundMillis", rounded(result.aroundMillis()));
      json.put("meanChanges", rounded(result.meanChanges()));
      json.put("rssBytes", result.peakBytes());
    }
    try {
      return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of numbers and texts is always JSON", e);
    }
  }

  private static double rounded(double millis) {
    return Math.round(millis * 1e3) / 1e3;
  }
}
