package dev.kastor.simulator.evaluate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.simulator.run.Run;

/**
 * An evaluation as JSON: {@code sets[]}, each with {@code contenders[]}, each with its figures in
 * the mean and by workload, and {@code failed[]}. Ratios are those of means: to the baseline, to
 * the same contender without what sets it apart, to the published policy by the same rules and as
 * disturbed, and to the lower bounds where they were computed; what failed has none.
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
    ArrayNode failed = document.putArray("failed");
    evaluation
        .failures()
        .forEach((run, why) -> {
          ObjectNode json = failed.addObject();
          json.put("workload", run.workload());
          json.put("policy", run.policy().toString());
          json.put("mode", run.mode().label());
          json.put("seed", run.seed());
          json.put("why", why);
        });
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
    if (!evaluation.bounds().isEmpty()) {
      ArrayNode bounds = json.putArray("lowerBounds");
      for (String workload : set.workloads()) {
        evaluation
            .bounds()
            .of(set, workload)
            .ifPresent(bound -> bound.put(bounds.addObject().put("workload", workload)));
      }
    }
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
        .filter(part -> part.asks(set) && evaluation.contenders(part, set).contains(contender))
        .forEach(part -> parts.add(part.label()));
    json.put("policy", run.policy().name());
    json.put("mode", run.mode().label());
    json.put("familyMemory", run.familyMemory());
    json.put("options", run.policy().options().toString());
    json.put("conditions", run.conditions().toString());
    run.categories().ifPresent(drawn -> json.put("categories", drawn.toString()));
    json.put("seeds", contender.seeds(evaluation.seeds()).size());
    ratio(json, "ratioToBaseline", evaluation, set, contender, Contender.baseline(set.mode()));
    ratio(json, "ratioToUsual", evaluation, set, contender, contender.reference());
    ratio(json, "ratioToPublished", evaluation, set, contender, contender.published(set.mode()));
    double mean = evaluation.of(set, contender).meanSeconds();
    ratio(json, "ratioToBound", mean / evaluation.bounds().meanSeconds(set));
    evaluation.of(set, contender).put(json.putObject("mean"));
    ArrayNode workloads = json.putArray("workloads");
    for (String workload : set.workloads()) {
      evaluation.of(set, contender, workload).put(workloads.addObject().put("workload", workload));
    }
    return json;
  }

  private static void ratio(
      ObjectNode json,
      String name,
      Evaluation evaluation,
      WorkloadSet set,
      Contender contender,
      Contender to) {
    if (evaluation.contenders(set).contains(to)) {
      ratio(json, name, evaluation.ratio(set, contender, to));
    }
  }

  private static void ratio(ObjectNode json, String name, double ratio) {
    if (!Double.isNaN(ratio)) {
      json.put(name, ratio);
    }
  }
}
