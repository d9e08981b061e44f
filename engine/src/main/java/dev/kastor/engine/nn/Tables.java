package dev.kastor.engine.nn;

import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.tensor.Touched;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Tables of a network: parameters of which a pass reads the rows that the tokens of its examples
 * name, and nothing else.
 *
 * <p>A network with control flow has none that are known, nor has one whose table is used for
 * anything but looking up tokens as the examples have them.
 */
public final class Tables {
  private record Table(int entry, int rows) {}

  private final List<Table> tables;

  private Tables(List<Table> tables) {
    this.tables = List.copyOf(tables);
  }

  /** Those of a pass. */
  static Tables of(Node logits, List<Node> parameters) {
    Graph graph = Graph.of(logits);
    List<Table> tables = new ArrayList<>();
    if (graph.isPure()) {
      List<Node> nodes = graph.topological();
      for (int i = 0; i < parameters.size(); i++) {
        Node parameter = parameters.get(i);
        List<Node> users =
            nodes.stream().filter(node -> node.inputs().contains(parameter)).toList();
        if (!users.isEmpty() && users.stream().allMatch(Tables::looksUpTokens)) {
          tables.add(new Table(i, parameter.shape().extent(0)));
        }
      }
    }
    return new Tables(tables);
  }

  private static boolean looksUpTokens(Node node) {
    if (!(node.op() instanceof Primitive.Gather)) {
      return false;
    }
    Node tokens = node.input(1);
    while (tokens.op() instanceof Primitive.Slice || tokens.op() instanceof Primitive.Reshape) {
      tokens = tokens.input(0);
    }
    return tokens.op() instanceof Primitive.Input;
  }

  /** True if there are none. */
  public boolean isEmpty() {
    return tables.isEmpty();
  }

  /**
   * Rows that a pass reads, and perhaps some more.
   *
   * @param features of its examples: tokens
   */
  public List<Touched> touched(float[] features) {
    int[] tokens = new int[features.length];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) features[i];
    }
    int[] apart = Arrays.stream(tokens).sorted().distinct().toArray();
    return tables.stream()
        .map(table ->
            new Touched(
                table.entry,
                Arrays.stream(apart).filter(row -> row >= 0 && row < table.rows).toArray()))
        .toList();
  }
}
