package dev.kastor.engine.graph.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.nn.Cnn;
import dev.kastor.engine.nn.Forward;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.nn.RecurrentLanguageModel;
import dev.kastor.engine.nn.ResNet;
import dev.kastor.engine.nn.WideAndDeep;
import dev.kastor.engine.op.OpCases;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.op.SoftmaxCrossEntropy;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Contract of graph passes, over every op and over whole networks with their gradients. */
class GraphPassContractTest {
  /** Two orders of adding doubles, between -1 and 1, differ by less. */
  private static final double TOLERANCE = 1e-11;

  /**
   * A graph and what goes into it.
   *
   * @param results what is wanted before gradients
   * @param variables what the first result has gradients of; none for a graph without
   */
  record Given(String label, List<Node> results, List<Node> variables, Map<Node, double[]> values) {
    /** The graph that a pipeline with this pass alone makes. */
    List<Node> through(GraphPass pass) {
      List<Node> forward =
          pass.stage() == GraphPass.Stage.BEFORE_GRADIENTS ? pass.apply(results) : results;
      List<Node> all = withGradients(forward);
      return pass.stage() == GraphPass.Stage.BEFORE_COMPILATION ? pass.apply(all) : all;
    }

    List<Node> withGradients(List<Node> forward) {
      List<Node> all = new ArrayList<>(forward);
      if (!variables.isEmpty()) {
        all.addAll(Gradients.of(forward.getFirst(), variables));
      }
      return all;
    }

    /** What the pass is given. */
    List<Node> input(GraphPass pass) {
      return pass.stage() == GraphPass.Stage.BEFORE_GRADIENTS ? results : withGradients(results);
    }

    @Override
    public String toString() {
      return label;
    }
  }

  static Stream<GraphPass> passes() {
    return GraphPasses.BUILT_IN.all().stream();
  }

  static Stream<Given> graphs() {
    return Stream.concat(
        OpCases.all(1).stream().map(GraphPassContractTest::ofOp),
        Stream.of(
                new Cnn(2, 4, 4, 3, List.of(3), 5),
                new ResNet(2, 5, 4, 3, 2, List.of(1, 2)),
                new RecurrentLanguageModel(5, 6, 3, 2, Recurrent.Cell.LSTM),
                new RecurrentLanguageModel(5, 6, 3, 2, Recurrent.Cell.GRU),
                new WideAndDeep(2, 1, 6, 9, 3, List.of(4), 5))
            .map(GraphPassContractTest::ofNetwork));
  }

  private static Given ofOp(OpCases.Case of) {
    SplittableRandom random = new SplittableRandom(5);
    Map<Node, double[]> values = new HashMap<>();
    for (Node leaf : of.leaves()) {
      values.put(
          leaf,
          leaf.isFloat()
              ? random.doubles(leaf.shape().elements(), of.low(), of.high()).toArray()
              : random.ints(leaf.shape().elements(), 0, of.rows()).asDoubleStream().toArray());
    }
    return new Given(of.label(), List.of(of.node()), List.of(), values);
  }

  private static Given ofNetwork(Network network) {
    Forward forward = Forward.of(network, 4);
    Node targets = Node.input("targets", new Type(Shape.of(4 * network.positions()), DType.I32));
    Node loss = Node.of(new SoftmaxCrossEntropy(), forward.logits(), targets).mean(0, 1);
    SplittableRandom random = new SplittableRandom(6);
    Map<Node, double[]> values = new HashMap<>();
    for (Node leaf : Graph.of(loss).leaves()) {
      int elements = leaf.shape().elements();
      values.put(
          leaf,
          !leaf.isFloat()
              ? random.ints(elements, 0, network.classes()).asDoubleStream().toArray()
              // Running variances are above 0.
              : forward.statistics().contains(leaf)
                  ? random.doubles(elements, 0.5, 1).toArray()
                  : random.doubles(elements, -1, 1).toArray());
    }
    return new Given(
        network.toString(), List.of(loss, forward.logits()), forward.parameters(), values);
  }

  @ParameterizedTest
  @MethodSource("passes")
  void valuesAndGradientsStayTheSame(GraphPass pass) {
    ReferenceBackend reference = new ReferenceBackend();
    graphs()
        .forEach(given -> {
          List<Node> plain = given.withGradients(given.results());
          List<Node> rewritten = given.through(pass);
          assertThat(rewritten.stream().map(Node::types))
              .as(given.label())
              .isEqualTo(plain.stream().map(Node::types).toList());
          List<double[]> wanted = reference.evaluate(new Graph(plain), given.values());
          List<double[]> values = reference.evaluate(new Graph(rewritten), given.values());
          for (int i = 0; i < wanted.size(); i++) {
            assertThat(values.get(i))
                .as("%s, result %d", given.label(), i)
                .containsExactly(wanted.get(i), within(TOLERANCE));
          }
        });
  }

  @ParameterizedTest
  @MethodSource("passes")
  void theSecondTimeNothingChanges(GraphPass pass) {
    graphs()
        .forEach(given -> {
          List<Node> once = pass.apply(given.input(pass));
          assertThat(pass.apply(once)).as(given.label()).isEqualTo(once);
        });
  }

  @ParameterizedTest
  @MethodSource("passes")
  void theSameGraphIsRewrittenTheSameWay(GraphPass pass) {
    graphs()
        .forEach(given ->
            assertThat(structure(pass.apply(given.input(pass))))
                .as(given.label())
                .isEqualTo(structure(pass.apply(given.input(pass)))));
  }

  /** A leaf that is not the caller's would never be given a value. */
  @ParameterizedTest
  @MethodSource("passes")
  void noLeafIsNew(GraphPass pass) {
    graphs()
        .forEach(given ->
            assertThat(new HashSet<>(new Graph(given.input(pass)).leaves()))
                .as(given.label())
                .containsAll(new Graph(pass.apply(given.input(pass))).leaves()));
  }

  @ParameterizedTest
  @MethodSource("passes")
  void placesAndOrdersStay(GraphPass pass) {
    Node left = Node.parameter("left", Shape.of(3, 4)).at("gpu:0");
    Node placed = left.multiply(1).permute(1, 0).permute(1, 0).at("gpu:1");
    Node ordered = Node.of(placed.op(), placed.inputs(), List.of(placed));
    List<Node> results = List.of(placed, ordered);
    List<Node> rewritten = pass.apply(results);
    assertThat(rewritten.stream().map(Node::place)).containsExactly("gpu:1", "");
    assertThat(rewritten.get(1).after()).containsExactly(rewritten.getFirst());
  }

  @ParameterizedTest
  @MethodSource("passes")
  void atLeastOneNetworkIsRewritten(GraphPass pass) {
    assertThat(graphs())
        .anyMatch(given -> !pass.apply(given.input(pass)).equals(given.input(pass)));
  }

  /** Ops in topological order with the numbers of what they need. */
  private static List<String> structure(List<Node> results) {
    Map<Node, Integer> numbers = new HashMap<>();
    List<String> lines = new ArrayList<>();
    for (Node node : new Graph(results).topological()) {
      numbers.put(node, numbers.size());
      lines.add(node.op() + " of " + node.needs().stream().map(numbers::get).toList());
    }
    return lines;
  }
}
