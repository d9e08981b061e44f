package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the small cases of the contract tests do not reach. */
@Tag("slow")
final class CudaKernelsTest {
  private static Node input(int... extents) {
    return Node.input("x", Type.f32(extents));
  }

  private static List<Launch> launches(Node... outputs) {
    return new Compilation(Graph.of(outputs).lower(_ -> false), false, _ -> false).launches();
  }

  static float[] run(Backend backend, Graph graph) {
    SplittableRandom random = new SplittableRandom(3);
    try (Executable executable = backend.compile(graph)) {
      for (Node leaf : graph.leaves()) {
        Tensor tensor = executable.input(leaf);
        float[] values = new float[leaf.shape().elements()];
        for (int i = 0; i < values.length; i++) {
          values[i] = (float) random.nextDouble(-1, 1);
        }
        tensor.write(values, 0);
      }
      executable.run();
      return executable.output(0).floats();
    }
  }

  static Stream<Node> large() {
    return Stream.of(
        // Long sums with few results, in parts.
        input(2100, 3).matMul(Node.parameter("w", Shape.of(2100, 5)), true, false),
        Node.of(
            new Primitive.ConvolutionKernel(1, 1, 3, 3),
            input(9, 12, 12, 2),
            Node.input("g", Type.f32(9, 12, 12, 3))),
        // Several tiles in each direction, none of them full at the end.
        input(130, 70).matMul(Node.parameter("w", Shape.of(70, 67))),
        input(2, 65, 17).matMul(Node.parameter("w", Shape.of(2, 33, 17)), false, true),
        Node.of(
            new Primitive.Convolution(2, 1),
            input(3, 13, 11, 5),
            Node.parameter("k", Shape.of(3, 3, 5, 66))),
        Node.of(
            new Primitive.ConvolutionImage(2, 1, 13, 11),
            input(3, 7, 6, 66),
            Node.parameter("k", Shape.of(3, 3, 5, 66))),
        // A block for a result, a warp for each of many, and eight threads for a column.
        input(3, 5000).sum(1, 2),
        input(66_000, 33).sum(1, 2),
        input(300, 70).maximum(0, 1),
        // Broadcast, permuted, cut and padded on the way.
        input(4, 6, 1, 8)
            .broadcast(Shape.of(4, 6, 5, 8))
            .permute(2, 0, 3, 1)
            .slice(1, 1, 3)
            .pad(2, 2, 1)
            .exp()
            .sum(0, 2));
  }

  @ParameterizedTest
  @MethodSource("large")
  void agreesWithReference(Node node) {
    Graph graph = Graph.of(node);
    float[] expected = run(new ReferenceBackend(), graph);
    List<String> modules = new ArrayList<>();
    float[] actual = run(InterpretedGpu.backend(modules::add), graph);
    Assembler.TARGETS.forEach(target -> Assembler.assemble(modules.getFirst(), target));
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat(actual[i]).as("element %d", i).isCloseTo(expected[i], within(2e-4f));
    }
  }

  @ParameterizedTest
  @MethodSource("large")
  void agreesWithReferenceWhereLibrariesCompute(Node node) {
    Graph graph = Graph.of(node, node.multiply(node));
    float[] actual = run(InterpretedGpu.withLibrary(), graph);
    assertThat(actual).containsExactly(run(new ReferenceBackend(), graph), within(2e-4f));
  }

  /** A kernel is read in the library's order by its convolution and by the image's gradient. */
  @Test
  void aKernelIsTurnedOnceForALibrary() {
    Node image = input(2, 5, 4, 3);
    Node kernel = Node.parameter("k", Shape.of(3, 2, 3, 6));
    Node result = image.convolve(kernel, 1, 1);
    Node gradient = Node.of(new Primitive.ConvolutionImage(1, 1, 5, 4), result.tanh(), kernel);
    Node both = Node.of(new Primitive.ConvolutionKernel(1, 1, 3, 2), gradient.tanh(), result);
    List<Task> tasks = new Compilation(Graph.of(gradient, both), false, _ -> true).tasks();
    assertThat(tasks.stream().map(Task::getClass).map(Class::getSimpleName))
        .containsExactly(
            "Launch", "Convolution", "Launch", "Convolution", "Launch", "Convolution", "Launch");
    float[] expected = run(new ReferenceBackend(), Graph.of(both));
    assertThat(run(InterpretedGpu.withLibrary(), Graph.of(both)))
        .containsExactly(expected, within(2e-4f));
  }

  @Test
  void longSumsAreCutIntoParts() {
    Node few = input(2100, 3).matMul(Node.parameter("w", Shape.of(2100, 5)), true, false);
    assertThat(launches(few)).hasSize(2);
    assertThat(launches(few).getFirst().z()).isEqualTo(4);
    Node many = input(2100, 900).matMul(Node.parameter("w", Shape.of(2100, 900)), true, false);
    assertThat(launches(many)).hasSize(1);
  }

  @Test
  void whatLiesBetweenBuffersHasNoKernel() {
    Node product = input(8, 4).matMul(Node.parameter("w", Shape.of(4, 6)));
    Node bias = Node.parameter("b", Shape.of(6)).reshape(1, 6).broadcast(Shape.of(8, 6));
    assertThat(launches(product.add(bias).sigmoid().multiply(2).sum(0, 1))).hasSize(2);
    // Read by two, it is computed once; read many times by a broadcast too.
    Node shared = product.exp();
    assertThat(launches(shared.add(shared.permute(1, 0).permute(1, 0)))).hasSize(3);
    Node row = input(8).exp().reshape(8, 1);
    assertThat(launches(row.broadcast(Shape.of(8, 900)).tanh())).hasSize(2);
  }

  @Test
  void longExpressionsAreCut() {
    Node x = input(7);
    Node chain = x;
    for (int i = 0; i < 100; i++) {
      chain = chain.multiply(chain.greater(Node.constant(0.5)).add(0.5));
    }
    Graph graph = Graph.of(chain);
    assertThat(launches(chain)).hasSizeGreaterThan(2);
    assertThat(run(InterpretedGpu.backend(), graph))
        .containsExactly(run(new ReferenceBackend(), graph), within(1e-6f));
  }

  @Test
  void whatIsNotANumberStaysSo() {
    Node x = input(3);
    Node zero = Node.constant(0).broadcast(x.shape());
    Graph graph =
        Graph.of(x.relu(), Node.of(new Primitive.Binary(Primitive.Binary.Kind.MAXIMUM), zero, x));
    try (Executable executable = InterpretedGpu.backend().compile(graph)) {
      executable.input(x).write(new float[] {Float.NaN, -1, 2}, 0);
      executable.run();
      assertThat(executable.output(0).floats()).containsExactly(Float.NaN, 0, 2);
      assertThat(executable.output(1).floats()).containsExactly(Float.NaN, 0, 2);
    }
  }

  @Test
  void rowsThatATableDoesNotHaveAreNoNumbers() {
    Node table = input(2, 2);
    Node rows = Node.input("rows", new Type(Shape.of(3), DType.I32));
    try (Executable executable =
        InterpretedGpu.backend().compile(Graph.of(Node.of(new Primitive.Gather(), table, rows)))) {
      executable.input(table).write(new float[] {1, 2, 3, 4}, 0);
      executable.input(rows).write(new int[] {1, 2, -1}, 0);
      executable.run();
      assertThat(executable.output(0).floats())
          .containsExactly(3, 4, Float.NaN, Float.NaN, Float.NaN, Float.NaN);
    }
  }

  @Test
  void controlFlowIsForAnExecutor() {
    Node looped =
        ControlFlow.loop(
                List.of(Node.input("x", Type.f32())),
                values -> Node.constant(3).greater(values.getFirst()),
                values -> List.of(values.getFirst().add(1)))
            .getFirst();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> InterpretedGpu.backend().compile(Graph.of(looped)))
        .withMessageContaining("needs an executor");
  }
}
