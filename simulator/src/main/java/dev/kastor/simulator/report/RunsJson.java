package dev.kastor.simulator.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.replay.DecisionTimes;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Outcome;
import java.util.List;
import java.util.Map;

/**
 * Outcomes as JSON: {@code runs[]}, each with its settings, its summary, and the completion time of
 * every job by name. All but {@code cpuSeconds} and {@code decisionMillis} is a function of the
 * settings and the seed.
 */
public final class RunsJson {
  /** Says what a file holds, and in which version. */
  public static final String SCHEMA = "kastor.dev/runs/v1";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private RunsJson() {}

  /** With costs, as {@code kastor simulate} writes them. */
  public static String of(List<Outcome> outcomes) {
    return of(outcomes, Map.of());
  }

  /** The same with the lower bounds of some workloads. */
  public static String of(List<Outcome> outcomes, Map<String, LowerBound> bounds) {
    ArrayNode runs = MAPPER.createArrayNode();
    for (Outcome outcome : outcomes) {
      ObjectNode json = run(outcome, true);
      LowerBound bound = bounds.get(outcome.run().workload());
      if (bound != null) {
        ObjectNode below = json.putObject("lowerBound");
        bound.put(below);
        below.put("ratio", outcome.replay().averageSeconds() / bound.meanSeconds());
      }
      runs.add(json);
    }
    return text(runs);
  }

  /** The document of some runs. */
  public static String text(ArrayNode runs) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("schema", SCHEMA);
    document.set("runs", runs);
    try {
      // Line ends do not depend on the system, so that the same replay gives the same bytes.
      DefaultPrettyPrinter printer =
          new DefaultPrettyPrinter().withObjectIndenter(new DefaultIndenter("  ", "\n"));
      return MAPPER.writer(printer).writeValueAsString(document) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of numbers and texts is always JSON", e);
    }
  }

  /** One run, with or without what depends on the machine. */
  public static ObjectNode run(Outcome outcome, boolean costs) {
    Replay replay = outcome.replay();
    ObjectNode json = MAPPER.createObjectNode();
    json.put("policy", replay.policy());
    json.put("workload", replay.workload());
    json.put("mode", replay.mode().label());
    json.put("seed", replay.seed());
    json.put("cluster", outcome.run().cluster().toString());
    json.put("roundSeconds", outcome.run().round().toSeconds());
    json.put("load", outcome.run().load());
    if (!outcome.run().conditions().equals(Conditions.PLAIN)) {
      json.put("conditions", outcome.run().conditions().toString());
    }
    if (!outcome.assumptions().isEmpty()) {
      json.put("assumptions", outcome.assumptions());
    }
    if (outcome.run().familyMemory()) {
      json.put("familyMemory", true);
    }
    json.put("jobs", replay.jobs().size());
    json.put("avgJctSeconds", replay.averageSeconds());
    json.put("p50JctSeconds", replay.percentileSeconds(50));
    json.put("p90JctSeconds", replay.percentileSeconds(90));
    json.put("p99JctSeconds", replay.percentileSeconds(99));
    json.put("avgWaitSeconds", replay.averageWaitSeconds());
    json.put("makespanSeconds", replay.makespanSeconds());
    json.put("restarts", replay.restarts());
    json.put("moves", replay.moves());
    json.put("gpuHours", replay.gpuHours());
    if (outcome.run().conditions().autoscaling().isPresent()) {
      json.put("providedGpuHours", replay.providedGpuHours());
    }
    if (outcome.run().cluster().priced()) {
      ObjectNode money = json.putObject("money");
      money.put("nodes", replay.nodeMoney());
      money.put("jobs", replay.jobMoney());
      money.put("perJob", replay.jobMoney() / replay.jobs().size());
      ObjectNode byJob = money.putObject("byJob");
      replay.jobs().forEach(job -> byJob.put(job.name(), job.money()));
    }
    ObjectNode fairness = json.putObject("finishTimeFairness");
    fairness.put("worst", outcome.fairness().worst());
    fairness.put("shareAboveOne", outcome.fairness().shareAboveOne());
    if (costs) {
      json.put("cpuSeconds", replay.cpuSeconds());
      DecisionTimes decisions = replay.decisions();
      ObjectNode millis = json.putObject("decisionMillis");
      millis.put("mean", decisions.mean());
      millis.put("p99", decisions.p99());
      millis.put("max", decisions.max());
    }
    ObjectNode jct = json.putObject("jct");
    replay.jobs().forEach(job -> jct.put(job.name(), job.completionSeconds()));
    return json;
  }
}
