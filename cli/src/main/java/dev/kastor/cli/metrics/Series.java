package dev.kastor.cli.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.protocol.Scalars;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Series of a job in the operator's answer on its history. */
final class Series {
  /** Columns that the operator measures, by the names that they have beside a script's own. */
  private static final SequencedMap<String, String> OWN = own();

  private static final Comparator<Point> IN_ORDER =
      Comparator.comparingLong(Point::epochMillis).thenComparing(Point::name);

  private Series() {}

  private static SequencedMap<String, String> own() {
    SequencedMap<String, String> own = new LinkedHashMap<>();
    own.put(Scalars.LOSS, "loss");
    own.put(Scalars.OWN_PREFIX + "goodput", "goodput");
    own.put(Scalars.OWN_PREFIX + "throughput", "throughput");
    own.put(Scalars.OWN_PREFIX + "efficiency", "efficiency");
    own.put(Scalars.OWN_PREFIX + "steps_per_second", "stepsPerSecond");
    own.put(Scalars.OWN_PREFIX + "noise_scale", "noiseScale");
    own.put(Scalars.OWN_PREFIX + "learning_rate", "learningRate");
    own.put(Scalars.OWN_PREFIX + "global_batch", "globalBatch");
    own.put(Scalars.OWN_PREFIX + "replicas", "replicas");
    return own;
  }

  /** All points, in order of time. */
  static List<Point> of(JsonNode history) {
    JsonNode columns = history.path("series");
    if (!columns.has("step") || !history.has("scalars")) {
      throw new CliException(
          ExitCode.FAILED,
          "the operator is older than this command and tells no steps. Upgrade it");
    }
    List<Point> points = new ArrayList<>();
    OWN.forEach((name, column) -> add(name, columns, column, points));
    for (Map.Entry<String, JsonNode> scalar : history.path("scalars").properties()) {
      add(scalar.getKey(), scalar.getValue(), "value", points);
    }
    points.sort(IN_ORDER);
    return points;
  }

  private static void add(String name, JsonNode columns, String column, List<Point> points) {
    JsonNode values = columns.path(column);
    for (int i = 0; i < values.size(); i++) {
      // What was not known then is null.
      if (values.get(i).isNumber()) {
        points.add(
            new Point(
                name,
                columns.path("epochMillis").path(i).asLong(),
                columns.path("step").path(i).asLong(),
                values.get(i).asDouble()));
      }
    }
  }
}
