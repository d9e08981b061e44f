package dev.kastor.engine.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Steps of width 1, worked by hand; the state's product is the bias, as its weights are 0. */
class RecurrentTest {
  private static double[] run(Recurrent.Cell cell, double bias, double... projected) {
    int gates = cell.gates();
    Node input = Node.input("input", Type.f32(projected.length / gates, 1, gates));
    Node weights = Node.constant(0).broadcast(Type.f32(1, gates).shape());
    Node biases = Node.constant(bias).broadcast(Type.f32(gates).shape());
    Node states = Node.of(new Recurrent(cell), input, weights, biases);
    return new ReferenceBackend().evaluate(Graph.of(states), Map.of(input, projected)).getFirst();
  }

  @Test
  void lstmKeepsAndForgetsByItsGates() {
    // Gates i, f, g, o before their functions.
    double[] parts = run(Recurrent.Cell.LSTM, 0, 99, 99, 99, 99, 99, 99, 99, 99, 0, -99, 0.5, 0);
    assertThat(parts[6 + 4]).as("memory: all kept, 1 added").isCloseTo(2, within(1e-9));
    assertThat(parts[6 + 5]).as("output").isCloseTo(Math.tanh(2), within(1e-9));
    double memory = Math.tanh(0.5) / 2;
    assertThat(parts[12 + 4]).as("memory: half of what is new").isCloseTo(memory, within(1e-9));
    assertThat(parts[12 + 5]).as("output").isCloseTo(Math.tanh(memory) / 2, within(1e-9));
  }

  @Test
  void gruMixesOldAndNewByItsGates() {
    // Gates r, z, n, with 1 from the state in each; in n it counts as much as r lets it.
    double[] parts = run(Recurrent.Cell.GRU, 1, 99, -99, 3, 99, 99, 0, -1, -99, 0.2);
    assertThat(parts[4])
        .as("update gate closed: the new output")
        .isCloseTo(Math.tanh(4), within(1e-9));
    assertThat(parts[5 + 4]).as("open: the old output").isCloseTo(Math.tanh(4), within(1e-9));
    assertThat(parts[10 + 4])
        .as("closed, reset gate half open")
        .isCloseTo(Math.tanh(0.2 + 0.5), within(1e-9));
  }
}
