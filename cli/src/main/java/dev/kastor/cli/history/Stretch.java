package dev.kastor.cli.history;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.terminal.Format;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of a job's life with one allocation, and what was reported in it.
 *
 * @param from when it began, ISO 8601
 * @param to when it ended; absent while it lasts
 * @param replicas replicas on all nodes; 0 while the job waited
 * @param nodes replicas by node
 * @param minGlobalBatch smallest batch reported in it, in examples
 * @param maxGlobalBatch largest batch reported in it
 * @param goodput mean of what was reported, in effective examples per second
 * @param efficiency mean of what was reported, in (0, 1]
 * @param loss last one reported in it
 * @param reason why it had this size, as one word
 * @param message why, as a sentence
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Stretch(
    String from,
    @Nullable String to,
    int replicas,
    Map<String, Integer> nodes,
    @Nullable Integer minGlobalBatch,
    @Nullable Integer maxGlobalBatch,
    @Nullable Double goodput,
    @Nullable Double efficiency,
    @Nullable Double loss,
    String reason,
    String message) {
  static final String[] HEADER = {
    "AGO", "FOR", "REPLICAS", "BATCH", "GOODPUT", "EFFICIENCY", "LOSS", "NODES", "WHY"
  };

  /** Stretches of the operator's answer, oldest first. */
  static List<Stretch> of(JsonNode history) {
    List<Stretch> stretches = new ArrayList<>();
    for (JsonNode segment : history.path("timeline")) {
      long from = segment.path("from").asLong();
      long to = segment.path("to").asLong(Long.MAX_VALUE);
      JsonNode series = history.path("series");
      List<Integer> within = new ArrayList<>();
      for (int i = 0; i < series.path("epochMillis").size(); i++) {
        long at = series.path("epochMillis").get(i).asLong();
        if (at >= from && at < to) {
          within.add(i);
        }
      }
      List<Double> batches = column(series.path("globalBatch"), within);
      List<Double> losses = column(series.path("loss"), within);
      Map<String, Integer> nodes = new TreeMap<>();
      segment.path("nodes").properties().forEach(e -> nodes.put(e.getKey(), e.getValue().asInt()));
      stretches.add(
          new Stretch(
              Instant.ofEpochMilli(from).toString(),
              to == Long.MAX_VALUE ? null : Instant.ofEpochMilli(to).toString(),
              segment.path("replicas").asInt(),
              nodes,
              batches.stream().min(Double::compare).map(Double::intValue).orElse(null),
              batches.stream().max(Double::compare).map(Double::intValue).orElse(null),
              mean(column(series.path("goodput"), within)),
              mean(column(series.path("efficiency"), within)),
              losses.isEmpty() ? null : losses.getLast(),
              segment.path("reason").asText(),
              segment.path("message").asText()));
    }
    return stretches;
  }

  private static List<Double> column(JsonNode values, List<Integer> rows) {
    return rows.stream()
        .map(values::path)
        .filter(JsonNode::isNumber)
        .map(JsonNode::asDouble)
        .toList();
  }

  private static @Nullable Double mean(List<Double> values) {
    return values.isEmpty()
        ? null
        : values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }

  List<String> cells(Instant now) {
    Optional<Instant> began = Format.instant(from);
    Optional<Instant> ended = to == null ? Optional.of(now) : Format.instant(to);
    return List.of(
        Format.duration(Duration.between(began.orElse(now), now)),
        Format.between(began, ended),
        Integer.toString(replicas),
        batch(),
        Format.number(goodput),
        Format.number(efficiency),
        Format.number(loss),
        nodes.isEmpty()
            ? "-"
            : nodes.entrySet().stream()
                .map(e -> e.getKey() + ":" + e.getValue())
                .collect(Collectors.joining(",")),
        reason + ": " + message);
  }

  private String batch() {
    if (minGlobalBatch == null) {
      return "-";
    }
    return minGlobalBatch.equals(maxGlobalBatch)
        ? minGlobalBatch.toString()
        : minGlobalBatch + "-" + maxGlobalBatch;
  }
}
