package dev.kastor.engine.eager;

import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Effect;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Rewrite;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A function over nodes that is traced to a graph and runs as a whole.
 *
 * <p>It is traced anew for each combination of input types and constants; Java code in it runs
 * while it is traced only, effects in it take place in each call. Nodes with values from outside
 * that it refers to are used as they are. One thread at a time.
 */
public final class Staged {
  /** What is traced. */
  @FunctionalInterface
  public interface Function {
    /**
     * Builds the results from the inputs.
     *
     * @param inputs without values
     * @param constants what else the call depends on, as it was given
     */
    List<Node> apply(List<Node> inputs, List<Object> constants);
  }

  private record Key(List<Type> inputs, List<Object> constants) {}

  private record Trace(List<Node> leaves, List<Node> results, List<Node> captured, boolean acts) {}

  private final Eager eager;
  private final Function function;
  private final Map<Key, Trace> traces = new HashMap<>();

  /** A function that has not been traced. */
  public Staged(Eager eager, Function function) {
    this.eager = eager;
    this.function = function;
  }

  /** How often it was traced. */
  public int traces() {
    return traces.size();
  }

  /**
   * Calls the function.
   *
   * @param constants compared by {@code equals}
   * @return a node with a value for each result; gradients pass through them unless the function
   *     has effects
   */
  public List<Node> call(List<Node> inputs, Object... constants) throws InterruptedException {
    List<Type> types = inputs.stream().map(Node::type).toList();
    Trace trace = traces.computeIfAbsent(new Key(types, List.of(constants)), this::trace);
    Map<Node, Value> feeds = new HashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      feeds.put(trace.leaves.get(i), eager.single(inputs.get(i)));
    }
    for (Node node : trace.captured) {
      feeds.put(node, eager.single(node));
    }
    List<Value> values = eager.session().values(feeds, trace.results);
    return trace.acts ? leaves(trace, values) : linked(trace, inputs, values);
  }

  /** What took place must not take place again when somebody asks for a gradient. */
  private List<Node> leaves(Trace trace, List<Value> values) {
    List<Node> results = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      results.add(eager.leaf(values.get(i), trace.results.get(i).type()));
    }
    return results;
  }

  private List<Node> linked(Trace trace, List<Node> inputs, List<Value> values) {
    Map<Node, Node> actual = new HashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      actual.put(trace.leaves.get(i), inputs.get(i));
    }
    List<Node> results = new Rewrite(actual).of(trace.results);
    for (int i = 0; i < results.size(); i++) {
      if (eager.knows(results.get(i))) {
        values.get(i).release(); // An input or a captured node, or a result that comes twice.
      } else {
        eager.know(results.get(i), values.get(i));
      }
    }
    return results;
  }

  private Trace trace(Key key) {
    List<Node> leaves = key.inputs.stream().map(type -> Node.input("staged", type)).toList();
    List<Node> results = List.copyOf(function.apply(leaves, key.constants));
    Set<Node> captured = new LinkedHashSet<>();
    results.stream().filter(eager::knows).forEach(captured::add);
    boolean acts = false;
    for (Node node : new Graph(results).topological(eager::knows)) {
      acts |= node.op() instanceof Effect;
      node.needs().stream().filter(eager::knows).forEach(captured::add);
    }
    return new Trace(leaves, results, List.copyOf(captured), acts);
  }
}
