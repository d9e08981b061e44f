package dev.kastor.simulator.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.traces.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Replays as one HTML page that needs no other file and no network. */
public final class Page {
  private static final int SPANS = 240;
  private static final int CDF_POINTS = 400;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Page() {}

  /** Writes the page, with the lower bounds of some workloads. */
  public static void write(List<Outcome> outcomes, Map<String, LowerBound> bounds, Path file)
      throws IOException {
    Properties echarts = new Properties();
    echarts.load(new StringReader(resource("echarts.properties")));
    // The data goes in last: nothing in it can then be taken for a mark.
    String page =
        resource("page.html")
            .replace("/*STYLE*/", resource("page.css"))
            .replace("/*ECHARTS*/", script(resource(echarts.getProperty("path"))))
            .replace("/*SCRIPT*/", resource("page.js"))
            .replace("\"DATA\"", script(MAPPER.writeValueAsString(data(outcomes, bounds))));
    AtomicFile.write(file, page);
  }

  /** Text that cannot end the script element that it stands in. */
  private static String script(String text) {
    return text.replace("</", "<\\/").replace("<!--", "<\\!--");
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = Page.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("%s is not on the class path".formatted(name));
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static ObjectNode data(List<Outcome> outcomes, Map<String, LowerBound> bounds) {
    ObjectNode data = MAPPER.createObjectNode();
    ArrayNode groups = data.putArray("groups");
    for (Group group : Group.of(outcomes)) {
      ObjectNode json = groups.addObject();
      Run first = group.outcomes().getFirst().run();
      json.put("title", group.title());
      json.put("mode", first.mode().label());
      json.put("cluster", first.cluster().toString());
      json.put("gpus", first.cluster().gpus());
      json.put("seed", first.seed());
      json.put("jobs", group.outcomes().getFirst().replay().jobs().size());
      json.put("assumptions", group.outcomes().getFirst().assumptions());
      json.put("spanHours", group.endSeconds() / SPANS / 3600);
      LowerBound bound = bounds.get(first.workload());
      if (bound != null) {
        json.put("bound", bound.text());
      }
      ArrayNode runs = json.putArray("runs");
      group.outcomes().forEach(outcome -> runs.add(run(outcome, bound, group.endSeconds())));
    }
    return data;
  }

  private static ObjectNode run(Outcome outcome, @Nullable LowerBound bound, double endSeconds) {
    Replay replay = outcome.replay();
    ObjectNode json = MAPPER.createObjectNode();
    json.put("policy", replay.policy());
    json.put("mean", replay.averageSeconds());
    if (bound != null) {
      json.put("overBound", replay.averageSeconds() / bound.meanSeconds());
    }
    json.put("p50", replay.percentileSeconds(50));
    json.put("p90", replay.percentileSeconds(90));
    json.put("p99", replay.percentileSeconds(99));
    json.put("makespan", replay.makespanSeconds());
    json.put("gpuHours", replay.gpuHours());
    json.put("restarts", replay.restarts());
    json.put("moves", replay.moves());
    if (outcome.run().cluster().priced()) {
      json.put("nodeMoney", replay.nodeMoney());
      json.put("jobMoney", replay.jobMoney());
    }
    json.put("worst", outcome.fairness().worst());
    json.put("above", outcome.fairness().shareAboveOne());
    json.put("decision", replay.decisions().mean());
    ArrayNode cdf = json.putArray("cdf");
    int points = Math.min(CDF_POINTS, replay.jobs().size());
    for (int i = 1; i <= points; i++) {
      double percent = 100.0 * i / points;
      cdf.addArray().add(rounded(replay.percentileSeconds(percent) / 3600)).add(rounded(percent));
    }
    Timeline timeline = Timeline.of(replay, endSeconds, SPANS);
    numbers(json.putArray("queued"), timeline.queued());
    numbers(json.putArray("utilisation"), timeline.utilisation());
    numbers(json.putArray("efficiency"), timeline.efficiency());
    ObjectNode applications = json.putObject("applications");
    timeline
        .gpusByApplication()
        .forEach((name, gpus) -> numbers(applications.putArray(name), gpus));
    return json;
  }

  private static void numbers(ArrayNode array, double[] values) {
    for (double value : values) {
      if (Double.isNaN(value)) {
        array.addNull();
      } else {
        array.add(rounded(value));
      }
    }
  }

  /** A few digits are enough for a picture and keep the page small. */
  private static double rounded(double value) {
    return Math.round(value * 1e4) / 1e4;
  }
}
