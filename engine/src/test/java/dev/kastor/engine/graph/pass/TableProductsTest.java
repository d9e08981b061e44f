package dev.kastor.engine.graph.pass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.cpu.LoadedCpu;
import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TableProductsTest {
  private static final int ROWS = 5;

  private final ReferenceBackend reference = new ReferenceBackend();
  private final Node table = Node.parameter("table", Shape.of(ROWS, 3));
  private final Node weight = Node.parameter("weight", Shape.of(3, 4));
  private final Node bias = Node.parameter("bias", Shape.of(4));
  private final List<Node> parameters = List.of(table, weight, bias);

  private static Node numbers(int... extents) {
    return Node.input("numbers", new Type(Shape.of(extents), DType.I32));
  }

  /** A dense layer over embedded tokens, time first. */
  private Node layer(Node numbers) {
    return table.gather(numbers).permute(1, 0, 2).matMul(weight).add(bias);
  }

  @Test
  void theSameResultsAndGradientsInFewerProducts() {
    Node numbers = numbers(2, 6);
    Node plain = loss(layer(numbers));
    Node early = new TableProducts().apply(List.of(plain)).getFirst();
    assertThat(multiplied(plain)).containsExactly(12);
    assertThat(multiplied(early)).containsExactly(ROWS);
    Map<Node, double[]> values = values(numbers);
    assertClose(
        reference.evaluate(all(early), values), reference.evaluate(all(plain), values), 1e-12);
  }

  @Tag("slow")
  @Test
  void everyBackendAgrees() {
    Node numbers = numbers(2, 6);
    Graph early = all(new TableProducts().apply(List.of(loss(layer(numbers)))).getFirst());
    Map<Node, double[]> values = values(numbers);
    List<double[]> wanted = reference.evaluate(early, values);
    assertClose(run(InterpretedGpu.backend(), early, values), wanted, 1e-4);
    assertClose(run(LoadedCpu.backend(2), early, values), wanted, 1e-4);
  }

  @Test
  void whoElseReadsTheRowsStillDoes() {
    Node rows = table.gather(numbers(12));
    Node both = rows.matMul(weight).add(bias).sum(0, 2).add(rows.exp().sum(0, 2));
    Node early = new TableProducts().apply(List.of(both)).getFirst();
    assertThat(multiplied(early)).containsExactly(ROWS);
    Map<Node, double[]> values = values(rows.input(1));
    assertClose(
        reference.evaluate(Graph.of(early), values),
        reference.evaluate(Graph.of(both), values),
        1e-12);
  }

  @Test
  void fewRowsAreGatheredFirst() {
    Node few = loss(layer(numbers(3, 3)));
    assertThat(new TableProducts().apply(List.of(few)).getFirst()).isSameAs(few);
  }

  @Test
  void whatHasAPlaceOrAnOrderStaysAsItIs() {
    Node rows = table.gather(numbers(12));
    Node placed = rows.matMul(weight).at("gpu:0");
    assertThat(new TableProducts().apply(List.of(placed)).getFirst()).isSameAs(placed);
    Node ordered = Node.of(placed.op(), List.of(rows, weight), List.of(placed));
    assertThat(new TableProducts().apply(List.of(ordered)).getFirst()).isSameAs(ordered);
  }

  @Test
  void aProductOfAnotherAxisIsNone() {
    Node rows = table.gather(numbers(12));
    Node turned = rows.permute(1, 0).matMul(Node.parameter("other", Shape.of(12, 2)));
    Node folded = rows.reshape(6, 6).matMul(Node.parameter("wide", Shape.of(6, 2)));
    List<Node> results = List.of(turned, folded);
    assertThat(new TableProducts().apply(results)).isEqualTo(results);
  }

  private static Node loss(Node values) {
    Node squares = values.multiply(values);
    return squares.sum(0, squares.shape().rank());
  }

  private Graph all(Node loss) {
    List<Node> outputs = new ArrayList<>(List.of(loss));
    outputs.addAll(Gradients.of(loss, parameters));
    return new Graph(outputs);
  }

  /** The rows of the left operands of all products. */
  private static List<Integer> multiplied(Node result) {
    return Graph.of(result).topological().stream()
        .filter(node -> node.op() instanceof Primitive.MatMul)
        .map(node -> node.input(0).shape().extent(0))
        .toList();
  }

  private Map<Node, double[]> values(Node numbers) {
    SplittableRandom random = new SplittableRandom(3);
    Map<Node, double[]> values = new HashMap<>();
    for (Node parameter : parameters) {
      double[] drawn = random.doubles(parameter.shape().elements(), -1, 1).toArray();
      for (int i = 0; i < drawn.length; i++) {
        drawn[i] = (float) drawn[i];
      }
      values.put(parameter, drawn);
    }
    values.put(
        numbers, random.ints(numbers.shape().elements(), 0, ROWS).asDoubleStream().toArray());
    return values;
  }

  private static List<double[]> run(Backend backend, Graph graph, Map<Node, double[]> values) {
    try (Executable executable = backend.compile(graph)) {
      for (Node leaf : graph.leaves()) {
        double[] given = values.getOrDefault(leaf, new double[0]);
        if (leaf.isFloat()) {
          float[] floats = new float[given.length];
          for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) given[i];
          }
          executable.input(leaf).write(floats, 0);
        } else {
          int[] ints = new int[given.length];
          for (int i = 0; i < ints.length; i++) {
            ints[i] = (int) given[i];
          }
          executable.input(leaf).write(ints, 0);
        }
      }
      executable.run();
      List<double[]> results = new ArrayList<>();
      for (int i = 0; i < graph.outputs().size(); i++) {
        float[] floats = executable.output(i).floats();
        double[] doubles = new double[floats.length];
        for (int j = 0; j < doubles.length; j++) {
          doubles[j] = floats[j];
        }
        results.add(doubles);
      }
      return results;
    }
  }

  private static void assertClose(List<double[]> actual, List<double[]> wanted, double tolerance) {
    assertThat(actual).hasSameSizeAs(wanted);
    for (int i = 0; i < wanted.size(); i++) {
      assertThat(actual.get(i)).containsExactly(wanted.get(i), within(tolerance));
    }
  }
}
