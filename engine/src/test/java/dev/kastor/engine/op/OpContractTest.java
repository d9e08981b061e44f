package dev.kastor.engine.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.cpu.LoadedCpu;
import dev.kastor.engine.backend.cuda.Assembler;
import dev.kastor.engine.backend.cuda.InterpretedGpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Pure;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.OpCases.Case;
import dev.kastor.engine.tensor.Tensor;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.ReflectionSupport;

/** What every op owes: its gradient, the same values on every backend, a clear refusal. */
@Tag("slow")
class OpContractTest {
  private static final double STEP = 1e-5;
  private final ReferenceBackend reference = new ReferenceBackend();

  static Stream<Case> cases() {
    return OpCases.all(1).stream();
  }

  /** Other shapes and values. */
  static Stream<Case> moreCases() {
    return LongStream.rangeClosed(2, 3).boxed().flatMap(seed -> OpCases.all(seed).stream());
  }

  @Test
  void everyOpHasACase() throws URISyntaxException {
    Set<String> covered =
        cases().map(each -> each.node().op().getClass().getName()).collect(Collectors.toSet());
    URI compiled = Pure.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    Set<String> all =
        ReflectionSupport.findAllClassesInClasspathRoot(
                compiled,
                type -> Pure.class.isAssignableFrom(type) && !type.isInterface(),
                name -> name.startsWith("dev.kastor.engine."))
            .stream()
            .map(Class::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(all).hasSizeGreaterThan(20);
    assertThat(covered).containsExactlyInAnyOrderElementsOf(all);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void gradientAgreesWithCentralDifferences(Case given) {
    SplittableRandom random = new SplittableRandom(11);
    Map<Node, double[]> values = values(given, random);
    Node weights = Node.input("weights", Type.f32(given.node().shape()));
    values.put(weights, draw(weights, random, -1, 1, 1));
    Node loss = given.node().multiply(weights).reshape(given.node().shape().elements()).sum(0, 1);
    List<Node> variables = given.leaves().stream().filter(Node::isFloat).toList();
    List<double[]> gradients = reference.evaluate(new Graph(Gradients.of(loss, variables)), values);
    for (int i = 0; i < variables.size(); i++) {
      double[] x = value(values, variables.get(i));
      for (int j = 0; j < x.length; j += 1 + x.length / 25) {
        double at = x[j];
        x[j] = at + STEP;
        double above = reference.evaluate(Graph.of(loss), values).getFirst()[0];
        x[j] = at - STEP;
        double below = reference.evaluate(Graph.of(loss), values).getFirst()[0];
        x[j] = at;
        assertThat(gradients.get(i)[j])
            .as("input %d, element %d", i, j)
            .isCloseTo((above - below) / (2 * STEP), within(2e-6 * Math.max(1, Math.abs(above))));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void cpuAgreesWithReference(Case given) {
    assertAgreesWithReference(given, LoadedCpu.backend(1));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void cudaKernelsAgreeWithReference(Case given) {
    assertAgreesWithReference(given, InterpretedGpu.backend());
    assertAgreesWithReference(given, InterpretedGpu.withLibrary());
  }

  @ParameterizedTest
  @MethodSource("moreCases")
  @Tag("nightly")
  void gradientsAndBackendsAgreeOnOtherShapes(Case given) {
    gradientAgreesWithCentralDifferences(given);
    cpuAgreesWithReference(given);
    cudaKernelsAgreeWithReference(given);
  }

  /** By the assembler of NVIDIA's driver, for each generation of GPUs that is served. */
  @ParameterizedTest
  @MethodSource("cases")
  void cudaKernelsAssemble(Case given) {
    List<String> modules = new ArrayList<>();
    InterpretedGpu.backend(modules::add).compile(graph(given)).close();
    assertThat(modules).hasSize(1);
    Assembler.TARGETS.forEach(target -> Assembler.assemble(modules.getFirst(), target));
  }

  private void assertAgreesWithReference(Case given, Backend backend) {
    Map<Node, double[]> values = values(given, new SplittableRandom(12));
    values.replaceAll((_, doubles) -> rounded(doubles));
    Graph graph = graph(given);
    List<Node> outputs = graph.outputs();
    List<double[]> expected = reference.evaluate(graph, values);
    try (Executable executable = backend.compile(graph)) {
      for (Node leaf : graph.leaves()) {
        write(executable.input(leaf), value(values, leaf));
      }
      executable.run();
      for (int i = 0; i < outputs.size(); i++) {
        float[] actual = executable.output(i).floats();
        for (int j = 0; j < actual.length; j++) {
          double wanted = expected.get(i)[j];
          assertThat((double) actual[j])
              .as("output %d, element %d", i, j)
              .isCloseTo(wanted, within(1e-4 * Math.max(1, Math.abs(wanted))));
        }
      }
    }
  }

  /** An op twice: by itself, and as a part of a fused expression with a gradient behind it. */
  private static Graph graph(Case given) {
    List<Node> outputs = new ArrayList<>();
    outputs.add(given.node());
    Node squares = given.node().multiply(given.node());
    Node loss = squares.reshape(given.node().shape().elements()).mean(0, 1);
    outputs.add(loss);
    outputs.addAll(Gradients.of(loss, given.leaves().stream().filter(Node::isFloat).toList()));
    return new Graph(outputs);
  }

  @Test
  void refusalNamesOpAndShapes() {
    Node left = Node.input("left", Type.f32(2, 3));
    Node right = Node.input("right", Type.f32(4, 5));
    assertThatExceptionOfType(ShapeException.class)
        .isThrownBy(() -> left.matMul(right))
        .withMessageContaining("MatMul")
        .withMessageContaining("[2, 3]")
        .withMessageContaining("[4, 5]");
    assertThatExceptionOfType(ShapeException.class)
        .isThrownBy(() -> Node.of(new MaxPool(2), Node.input("image", Type.f32(1, 3, 4, 1))))
        .withMessageContaining("MaxPool")
        .withMessageContaining("[1, 3, 4, 1]");
    assertThatExceptionOfType(ShapeException.class)
        .isThrownBy(() -> left.add(right))
        .withMessageContaining("[2, 3]");
  }

  private static Map<Node, double[]> values(Case given, SplittableRandom random) {
    Map<Node, double[]> values = new HashMap<>();
    for (Node leaf : given.leaves()) {
      values.put(leaf, draw(leaf, random, given.low(), given.high(), given.rows()));
    }
    return values;
  }

  private static double[] value(Map<Node, double[]> values, Node leaf) {
    return Objects.requireNonNull(values.get(leaf), () -> "No value for " + leaf);
  }

  private static double[] draw(
      Node leaf, SplittableRandom random, double low, double high, int rows) {
    double[] values = new double[leaf.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = leaf.isFloat() ? random.nextDouble(low, high) : random.nextInt(rows);
    }
    return values;
  }

  private static double[] rounded(double[] values) {
    double[] rounded = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      rounded[i] = (float) values[i];
    }
    return rounded;
  }

  private static void write(Tensor tensor, double[] values) {
    switch (tensor.dtype()) {
      case F32 -> {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
          floats[i] = (float) values[i];
        }
        tensor.write(floats, 0);
      }
      case I32 -> {
        int[] ints = new int[values.length];
        for (int i = 0; i < ints.length; i++) {
          ints[i] = (int) values[i];
        }
        tensor.write(ints, 0);
      }
    }
  }
}
