package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.cpu.LoadedCpu;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** A session computes what the interpreter does, and leaves no memory behind. */
class SessionTest {
  private static final long CAP = 1 << 24;

  private final Arena arena = Arena.ofShared();
  private final ReferenceBackend reference = new ReferenceBackend();
  private final Session session = new Session(reference, CAP, 2);
  private final ControlCases cases = new ControlCases();

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private Map<Node, Tensor> feeds(Map<Node, double[]> leaves) {
    Map<Node, Tensor> feeds = new HashMap<>();
    leaves.forEach((leaf, values) -> feeds.put(leaf, tensor(leaf.type(), values)));
    return feeds;
  }

  private Tensor tensor(Type type, double... values) {
    Tensor tensor = Tensor.allocate(arena, type.shape(), type.dtype());
    float[] floats = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      floats[i] = (float) values[i];
    }
    tensor.write(floats, 0);
    return tensor;
  }

  /** On the reference backend and on the fast one. */
  private void agrees(Node result) throws InterruptedException {
    agrees(session, result, 1e-5);
    try (Session fast = new Session(LoadedCpu.backend(1), CAP, 2)) {
      agrees(fast, result, 1e-4);
    }
  }

  private void agrees(Session session, Node result, double close) throws InterruptedException {
    Node loss = result.multiply(result).reshape(result.shape().elements()).sum(0, 1);
    List<Node> outputs = new ArrayList<>(List.of(result, loss));
    outputs.addAll(Gradients.of(loss, cases.leaves()));
    List<double[]> expected = reference.evaluate(new Graph(outputs), cases.values());
    for (int round = 0; round < 2; round++) {
      try (Results results = session.run(feeds(cases.values()), outputs)) {
        for (int i = 0; i < outputs.size(); i++) {
          float[] actual = results.get(i).floats();
          for (int j = 0; j < actual.length; j++) {
            assertThat((double) actual[j])
                .as("output %d, element %d", i, j)
                .isCloseTo(expected.get(i)[j], within(close));
          }
        }
      }
      assertThat(session.memory().usedBytes() - session.memory().compiledBytes())
          .as("bytes of values that are left")
          .isZero();
    }
  }

  @Tag("slow")
  @TestFactory
  Stream<DynamicTest> agreesWithTheInterpreter() {
    return cases.all().entrySet().stream()
        .map(graph -> DynamicTest.dynamicTest(graph.getKey(), () -> agrees(graph.getValue())));
  }

  @Test
  void whatIsFedNeedsNothingBehindIt() throws InterruptedException {
    Node middle = cases.cell(cases.x);
    Node end = middle.add(1);
    try (Results results =
        session.run(Map.of(middle, tensor(middle.type(), 1, 2, 3, 4, 5, 6)), List.of(end))) {
      assertThat(results.get(0).floats()).containsExactly(2, 3, 4, 5, 6, 7);
    }
  }

  @Test
  void aMissingLeafIsNamed() {
    assertThatThrownBy(() -> session.run(Map.of(), List.of(cases.cell(cases.x))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Input[2, 3]");
  }

  /** The example of docs/engine.md. */
  @Test
  void trainsThroughALoop() throws InterruptedException {
    Node x = Node.input("x", Type.f32(1, 3));
    Node w = Node.parameter("w", Shape.of(3, 3));
    Node state =
        ControlFlow.loop(
                List.of(Node.constant(0), x),
                values -> Node.constant(9.5).greater(values.get(0)),
                values -> List.of(values.get(0).add(1), values.get(1).matMul(w).tanh()))
            .get(1);
    Node loss = state.multiply(state).sum(0, 2);
    Node gradient = Gradients.of(loss, List.of(w)).getFirst();
    Tensor input = tensor(x.type(), 0.5, -1, 0.25);
    Tensor weights = tensor(w.type(), 1, 0.5, 0, 0, 1, 0.5, 0.5, 0, 1);
    List<Float> losses = new ArrayList<>();
    for (int step = 0; step < 5; step++) {
      try (Results results = session.run(Map.of(x, input, w, weights), List.of(loss, gradient))) {
        losses.add(results.get(0).get(0));
        float[] next = weights.floats();
        for (int i = 0; i < next.length; i++) {
          next[i] -= 0.1f * results.get(1).get(i);
        }
        weights.write(next, 0);
      }
    }
    assertThat(losses.getLast()).isLessThan(losses.getFirst() / 10);
  }

  @Test
  void whatNeedsMoreThanTheCapIsNamedAndTheSessionLivesOn() throws InterruptedException {
    Node vector = Node.input("v", Type.f32(1024));
    Node large = vector.reshape(1024, 1).matMul(vector.reshape(1, 1024)).exp();
    Node huge =
        Node.of(
            new Primitive.Broadcast(Type.f32(8, 1024, 1024).shape()), large.reshape(1, 1024, 1024));
    Map<Node, Tensor> feeds = Map.of(vector, tensor(vector.type(), new double[1024]));
    assertThatThrownBy(() -> session.run(feeds, List.of(huge)))
        .isInstanceOf(MemoryCapException.class)
        .hasMessageContaining("Broadcast[8, 1024, 1024]")
        .hasMessageContaining("33,554,432 bytes")
        .hasMessageContaining("16,777,216");
    try (Results results = session.run(feeds, List.of(vector.add(1)))) {
      assertThat(results.get(0).get(7)).isEqualTo(1);
    }
  }
}
