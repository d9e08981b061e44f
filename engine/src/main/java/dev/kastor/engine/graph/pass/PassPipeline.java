package dev.kastor.engine.graph.pass;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Graph passes in their order, with what a user switched on or off.
 *
 * @param passes passes in the order in which those of a stage are applied
 * @param switches by name whether a pass is applied; one that is not named is applied where it pays
 */
public record PassPipeline(List<GraphPass> passes, Map<String, Boolean> switches) {
  /** Kastor's own passes with nothing switched. */
  public static final PassPipeline USUAL = new PassPipeline(GraphPasses.BUILT_IN.all(), Map.of());

  public PassPipeline {
    passes = List.copyOf(passes);
    switches = Map.copyOf(switches);
  }

  /**
   * The results after all passes of a stage.
   *
   * @param pays whether a pass that nobody switched saves work on the backend in use
   */
  public List<Node> apply(GraphPass.Stage stage, List<Node> results, Predicate<GraphPass> pays) {
    List<Node> rewritten = results;
    for (GraphPass pass : passes) {
      Boolean switched = switches.get(pass.name());
      if (pass.stage() == stage && (switched == null ? pays.test(pass) : switched)) {
        rewritten = checked(pass, rewritten, pass.apply(rewritten));
      }
    }
    return rewritten;
  }

  /** Passes of jars are others' code: gradients of wrong nodes would train without a word. */
  private static List<Node> checked(GraphPass pass, List<Node> before, List<Node> after) {
    if (!types(after).equals(types(before))) {
      throw new IllegalStateException(
          "graph pass %s gave results of the types %s for %s"
              .formatted(pass.name(), types(after), types(before)));
    }
    return after;
  }

  private static List<List<Type>> types(List<Node> nodes) {
    return nodes.stream().map(Node::types).toList();
  }
}
