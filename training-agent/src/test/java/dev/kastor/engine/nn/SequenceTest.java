package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SequenceTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8})
  void partsJoinedAreTheWhole(int extent) {
    Node whole = Node.input("whole", Type.f32(extent, 2));
    List<Node> parts = Sequence.split(whole);
    assertThat(parts).hasSize(extent);
    double[] values = IntStream.range(0, 2 * extent).asDoubleStream().toArray();
    Graph graph = Graph.of(Sequence.join(parts), parts.getLast());
    List<double[]> results = new ReferenceBackend().evaluate(graph, Map.of(whole, values));
    assertThat(results.get(0)).containsExactly(values);
    assertThat(results.get(1)).containsExactly(2 * extent - 2, 2 * extent - 1);
  }
}
