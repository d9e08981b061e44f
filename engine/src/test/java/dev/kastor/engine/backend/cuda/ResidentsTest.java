package dev.kastor.engine.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Leaves and outputs that stay on a GPU. */
class ResidentsTest {
  private final InterpretedGpu gpu = InterpretedGpu.open();
  private final Backend backend = gpu.asBackend();
  private final Layout layout = Layout.of(List.of("a", "b"), List.of(Shape.of(3), Shape.of(2, 2)));
  private final DeviceVector vector = backend.vector(layout).orElseThrow();
  private final DeviceVector other = backend.vector(layout).orElseThrow();
  private final Node a = Node.parameter("a", Shape.of(3));
  private final Node b = Node.parameter("b", Shape.of(2, 2));

  @AfterEach
  void close() {
    vector.close();
    other.close();
    assertThat(gpu.blocks()).isZero();
  }

  private static float[] read(DeviceVector vector) {
    float[] values = new float[vector.layout().elements()];
    vector.read(values);
    return values;
  }

  @Test
  void aVectorIsZeroAndThenWhatIsWritten() {
    assertThat(read(vector)).containsOnly(0);
    float[] values = {1, 2, 3, 4, 5, 6, 7};
    vector.write(values);
    assertThat(read(vector)).isEqualTo(values);
    assertThat(vector.whole().shape()).isEqualTo(other.whole().shape());
    assertThatIllegalArgumentException().isThrownBy(() -> vector.write(new float[6]));
    assertThat(backend.vector(Layout.of("none", 0))).isEmpty();
    assertThat(new ReferenceBackend().vector(layout)).isEmpty();
  }

  @Test
  void outputsThatAreLeavesOrEqualHaveBuffersOfTheirOwn() {
    vector.write(new float[] {1, 2, 3, 4, 5, 6, 7});
    Node twice = a.add(a);
    Layout three =
        Layout.of(List.of("x", "y", "z"), List.of(Shape.of(3), Shape.of(3), Shape.of(2, 2)));
    try (DeviceVector results = backend.vector(three).orElseThrow();
        Executable executable =
            backend.compile(
                Graph.of(twice, a.add(a), b, twice),
                new Residence(
                    Map.of(a, vector.tensor(0), b, vector.tensor(1)),
                    Map.of(0, results.tensor(0), 1, results.tensor(1), 2, results.tensor(2))))) {
      long out = gpu.bytesOut();
      executable.run(output -> output == 3, _ -> {});
      assertThat(gpu.bytesOut() - out).isEqualTo(12);
      assertThat(executable.output(3).floats()).containsExactly(2, 4, 6);
      assertThat(read(results)).containsExactly(2, 4, 6, 2, 4, 6, 4, 5, 6, 7);
      executable.run();
      assertThat(executable.output(0).floats()).containsExactly(2, 4, 6);
      assertThatIllegalArgumentException().isThrownBy(() -> executable.input(a));
    }
  }

  @Test
  void anOutputTakesThePlaceOfWhatItIsComputedFrom() {
    vector.write(new float[] {1, 2, 3, 4, 5, 6, 7});
    other.write(new float[] {1, 1, 1, 1, 1, 1, 1});
    Node x = Node.input("x", new Type(vector.whole().shape(), a.type().dtype()));
    Node y = Node.input("y", x.type());
    Node sum = y.add(x);
    try (Executable executable =
        backend.compile(
            Graph.of(x.multiply(sum), sum),
            new Residence(
                Map.of(x, vector.whole(), y, other.whole()),
                Map.of(0, vector.whole(), 1, other.whole())))) {
      executable.run(_ -> false, _ -> {});
      executable.run(_ -> false, _ -> {});
      assertThat(read(other)).containsExactly(4, 9, 16, 25, 36, 49, 64);
      assertThat(read(vector)).startsWith(2 * 4, 6 * 9, 12 * 16);
    }
  }

  private void assertRefused(Graph graph, Residence residence, String why) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> backend.compile(graph, residence))
        .withMessageContaining(why);
  }

  @Test
  void whatWouldOverwriteWhatIsStillReadIsRefused() {
    Map<Node, DeviceVector.Place> leaves = Map.of(a, vector.tensor(0), b, vector.tensor(1));
    String why = "cannot take the place of";
    // Each element of the result needs others of the leaf.
    assertRefused(
        Graph.of(b.permute(1, 0)), new Residence(leaves, Map.of(0, vector.tensor(1))), why);
    assertRefused(Graph.of(b.matMul(b)), new Residence(leaves, Map.of(0, vector.tensor(1))), why);
    // The second output needs the leaf that the first has overwritten.
    assertRefused(
        Graph.of(a.exp(), a.sum(0, 1)), new Residence(leaves, Map.of(0, vector.tensor(0))), why);
    Node whole = Node.input("whole", new Type(vector.whole().shape(), a.type().dtype()));
    assertRefused(
        Graph.of(whole.exp(), a.exp()),
        new Residence(Map.of(a, vector.tensor(0), whole, other.whole()), Map.of(0, vector.whole())),
        why);
    assertRefused(
        Graph.of(a.exp(), a.negate()),
        new Residence(leaves, Map.of(0, other.tensor(0), 1, other.tensor(0))),
        "cannot have the same place");
    assertRefused(
        Graph.of(b.exp()), new Residence(leaves, Map.of(0, other.tensor(0))), "cannot lie in");
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            new ReferenceBackend().compile(Graph.of(a.exp()), new Residence(leaves, Map.of())))
        .withMessageContaining("computes in the memory of the host");
  }
}
