package dev.kastor.simulator.evaluate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.Run;

/**
 * An evaluation as JSON: {@code sets[]}, each with {@code contenders[]}, each with its figures in
 * the mean and by workload. Ratios are those of means: to the baseline, and to the same contender
 * without what sets it apart.
 */
public final class EvaluationJson {
  /** Says what a file holds, and in which version. */
  public static final String SCHEMA = "kastor.dev/evaluation/v1";

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private EvaluationJson() {}

  /** The document. */
  public static String of(Evaluation evaluation) {
    ObjectNode document = MAPPER.createObjectNode();
    document.put("schema", SCHEMA);
    ArrayNode seeds = document.putArray("seeds");
    evaluation.seeds().forEach(seeds::add);
    ArrayNode sets = document.putArray("sets");
    evaluation.sets().forEach(set -> sets.add(set(evaluation, set)));
    try {
      return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of numbers and texts is always JSON", e);
    }
  }

  private static ObjectNode set(Evaluation evaluation, WorkloadSet set) {
    ObjectNode json = MAPPER.createObjectNode();
    json.put("name", set.name());
    json.put("mode", set.mode().label());
    json.put("cluster", set.cluster().toString());
    set.load().ifPresent(load -> json.put("load", load));
    json.put("baseline", Contender.baseline(set.mode()).name());
    ArrayNode contenders = json.putArray("contenders");
    evaluation.contenders(set).forEach(one -> contenders.add(contender(evaluation, set, one)));
    return json;
  }

  private static ObjectNode contender(Evaluation evaluation, WorkloadSet set, Contender contender) {
    ObjectNode json = MAPPER.createObjectNode();
    Run run = contender.run(set, set.workloads().getFirst(), evaluation.seeds().getFirst());
    json.put("name", contender.name());
    ArrayNode parts = json.putArray("parts");
    evaluation.parts().stream()
        .filter(part -> evaluation.contenders(part).contains(contender))
        .forEach(part -> parts.add(part.label()));
    json.put("policy", run.policy());
    json.put("mode", run.mode().label());
    json.put("familyMemory", run.familyMemory());
    json.put("variant", run.variant().name());
    json.put("options", run.variant().options().toString());
    json.put("conditions", run.conditions().toString());
    json.put("seeds", contender.seeds(evaluation.seeds()).size());
    json.put("ratioToBaseline", evaluation.ratio(set, contender, Contender.baseline(set.mode())));
    if (evaluation.contenders(set).contains(contender.reference())) {
      json.put("ratioToUsual", evaluation.ratio(set, contender, contender.reference()));
    }
    put(json.putObject("mean"), evaluation.of(set, contender));
    ArrayNode workloads = json.putArray("workloads");
    for (String workload : set.workloads()) {
      put(workloads.addObject().put("workload", workload), evaluation.of(set, contender, workload));
    }
    return json;
  }

  private static void put(ObjectNode json, Figures figures) {
    json.put("avgJctSeconds", figures.meanSeconds());
    json.put("p50JctSeconds", figures.p50Seconds());
    json.put("p90JctSeconds", figures.p90Seconds());
    json.put("p99JctSeconds", figures.p99Seconds());
    json.put("restarts", figures.restarts());
    ObjectNode fairness = json.putObject("finishTimeFairness");
    fairness.put("worst", figures.worst());
    fairness.put("shareAboveOne", figures.shareAboveOne());
  }
}
