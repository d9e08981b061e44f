package dev.kastor.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.util.DoubleSummaryStatistics;
import java.util.List;

/** Measured training steps as JSON: {@code cases[]}. What is not known is absent. */
public final class EngineJson {
  /** Says what a file holds, and in which version. */
  public static final String SCHEMA = "kastor.dev/engine/v1";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private EngineJson() {}

  /**
   * The document of some results.
   *
   * @param date when they were measured
   */
  public static String of(List<EngineResult> results, Machine machine, Instant date) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("schema", SCHEMA);
    document.put("date", date.toString());
    document.set("machine", MAPPER.valueToTree(machine));
    ArrayNode cases = document.putArray("cases");
    results.forEach(result -> describe(result, cases.addObject()));
    try {
      return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of numbers and texts is always JSON", e);
    }
  }

  private static void describe(EngineResult result, ObjectNode json) {
    json.put("model", result.workload().name());
    json.put("device", result.kastor().device());
    json.put("threads", result.threads());
    json.put("precision", "fp32");
    json.put("parameters", result.kastor().parameters());
    json.put("stepsPerSecond", rounded(result.ours(Contender.Window::stepsPerSecond)));
    json.put("cpuMillisPerStep", rounded(result.ours(Contender.Window::cpuMillisPerStep)));
    json.put("firstStepSeconds", rounded(result.kastor().firstStepSeconds()));
    json.put("readySeconds", rounded(result.readySeconds()));
    json.put("peakBytes", result.rounds().getLast().kastor().peakBytes());
    json.put("loss", rounded(result.rounds().getLast().kastor().loss()));
    Contender.Start peer = result.peer();
    Contender.Window last = result.rounds().getLast().peer();
    if (peer != null && last != null) {
      json.put("peer", peer.library());
      json.put("peerStepsPerSecond", rounded(result.peers(Contender.Window::stepsPerSecond)));
      json.put("peerCpuMillisPerStep", rounded(result.peers(Contender.Window::cpuMillisPerStep)));
      json.put("peerFirstStepSeconds", rounded(peer.firstStepSeconds()));
      json.put("peerReadySeconds", rounded(result.peerReadySeconds()));
      json.put("peerPeakBytes", last.peakBytes());
      json.put("peerLoss", rounded(last.loss()));
      DoubleSummaryStatistics ratios =
          result.rounds().stream().mapToDouble(EngineResult.Round::ratio).summaryStatistics();
      json.put("ratio", rounded(result.median(EngineResult.Round::ratio)));
      json.put("minRatio", rounded(ratios.getMin()));
      json.put("maxRatio", rounded(ratios.getMax()));
      json.put("cpuRatio", rounded(result.median(EngineResult.Round::cpuRatio)));
    }
    ArrayNode rounds = json.putArray("rounds");
    result.rounds().forEach(round -> describe(round, rounds.addObject()));
  }

  private static void describe(EngineResult.Round round, ObjectNode json) {
    json.put("steps", round.kastor().steps());
    json.put("stepsPerSecond", rounded(round.kastor().stepsPerSecond()));
    json.put("cpuMillisPerStep", rounded(round.kastor().cpuMillisPerStep()));
    Contender.Window peer = round.peer();
    if (peer != null) {
      json.put("peerSteps", peer.steps());
      json.put("peerStepsPerSecond", rounded(peer.stepsPerSecond()));
      json.put("peerCpuMillisPerStep", rounded(peer.cpuMillisPerStep()));
      json.put("ratio", rounded(round.ratio()));
    }
  }

  private static double rounded(double value) {
    return Math.round(value * 1e4) / 1e4;
  }
}
