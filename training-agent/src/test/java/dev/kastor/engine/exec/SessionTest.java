package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.cpu.CpuBackend;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A session computes what the interpreter does, and leaves no memory behind. */
class SessionTest {
  private static final int WIDTH = 3;
  private static final long CAP = 1 << 24;

  private final Arena arena = Arena.ofShared();
  private final ReferenceBackend reference = new ReferenceBackend();
  private final Session session = new Session(reference, CAP, 2);
  private final Node x = Node.input("x", Type.f32(2, WIDTH));
  private final Node weights = Node.parameter("w", Type.f32(WIDTH, WIDTH).shape());
  private final Node bias = Node.parameter("b", Type.f32(WIDTH).shape());

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private Node cell(Node state) {
    return state.matMul(weights).add(bias).tanh().add(x.multiply(0.1));
  }

  private static Node loop(Node initial, int times, UnaryOperator<Node> body) {
    return ControlFlow.loop(
            List.of(Node.constant(0), initial),
            values -> Node.constant(times - 0.5).greater(values.get(0)),
            values -> List.of(values.get(0).add(1), body.apply(values.get(1))))
        .get(1);
  }

  private Map<Node, double[]> leaves() {
    SplittableRandom random = new SplittableRandom(5);
    Map<Node, double[]> leaves = new HashMap<>();
    for (Node leaf : List.of(x, weights, bias)) {
      leaves.put(leaf, random.doubles(leaf.shape().elements(), -1, 1).toArray());
    }
    return leaves;
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

  /** On the reference backend, and on the fast one where this machine has it. */
  private void agrees(Node result) throws InterruptedException {
    agrees(session, result, 1e-5);
    if (CpuBackend.load(1) instanceof CpuBackend.Availability.Available available) {
      try (Session fast = new Session(available.backend(), CAP, 2)) {
        agrees(fast, result, 1e-4);
      }
    }
  }

  private void agrees(Session session, Node result, double close) throws InterruptedException {
    Node loss = result.multiply(result).reshape(result.shape().elements()).sum(0, 1);
    List<Node> outputs = new ArrayList<>(List.of(result, loss));
    outputs.addAll(Gradients.of(loss, List.of(x, weights, bias)));
    List<double[]> expected = reference.evaluate(new Graph(outputs), leaves());
    for (int round = 0; round < 2; round++) {
      try (Results results = session.run(feeds(leaves()), outputs)) {
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

  @Test
  void straightLine() throws InterruptedException {
    agrees(cell(cell(x)));
  }

  @Test
  void loop() throws InterruptedException {
    agrees(loop(x, 5, this::cell));
  }

  @Test
  void loopThatNeverRuns() throws InterruptedException {
    agrees(loop(x, 0, this::cell));
  }

  @Test
  void oneIterationAtATime() throws InterruptedException {
    agrees(
        ControlFlow.loop(
                List.of(Node.constant(0), x),
                values -> Node.constant(3.5).greater(values.get(0)),
                values -> List.of(values.get(0).add(1), cell(values.get(1))),
                1)
            .get(1));
  }

  @Test
  void loopInLoop() throws InterruptedException {
    agrees(loop(x, 3, state -> loop(state, 2, this::cell).multiply(0.7)));
  }

  @Test
  void innerLoopAsLongAsTheOuterSays() throws InterruptedException {
    agrees(
        ControlFlow.loop(
                List.of(Node.constant(0), x),
                values -> Node.constant(3.5).greater(values.get(0)),
                values -> {
                  Node times = values.get(0);
                  List<Node> inner =
                      ControlFlow.loop(
                          List.of(Node.constant(0), values.get(1)),
                          v -> times.add(-0.5).greater(v.get(0)),
                          v -> List.of(v.get(0).add(1), cell(v.get(1))));
                  return List.of(times.add(1), inner.get(1));
                })
            .get(1));
  }

  @Test
  void eitherBranch() throws InterruptedException {
    for (int sign : new int[] {-1, 1}) {
      Node predicate = Node.constant(sign).greater(Node.constant(0));
      agrees(
          ControlFlow.cond(
                  predicate,
                  List.of(x),
                  operands -> List.of(cell(operands.getFirst()).exp()),
                  operands -> List.of(operands.getFirst().multiply(bias)))
              .getFirst());
    }
  }

  @Test
  void loopInABranchThatIsNotTaken() throws InterruptedException {
    for (int sign : new int[] {-1, 1}) {
      Node predicate = x.sum(0, 2).multiply(0).add(sign).greater(Node.constant(0));
      agrees(
          ControlFlow.cond(
                  predicate,
                  List.of(x),
                  operands -> List.of(loop(operands.getFirst(), 3, this::cell)),
                  operands -> List.of(Node.constant(2).broadcast(x.shape())))
              .getFirst());
    }
  }

  @Test
  void branchInLoop() throws InterruptedException {
    agrees(
        loop(
            x,
            4,
            state ->
                ControlFlow.cond(
                        state.sum(0, 2).greater(Node.constant(0.3)),
                        List.of(state),
                        operands -> List.of(cell(operands.getFirst()).negate()),
                        operands -> List.of(operands.getFirst().multiply(bias).add(1)))
                    .getFirst()));
  }

  @Test
  void whatIsFedNeedsNothingBehindIt() throws InterruptedException {
    Node middle = cell(x);
    Node end = middle.add(1);
    try (Results results =
        session.run(Map.of(middle, tensor(middle.type(), 1, 2, 3, 4, 5, 6)), List.of(end))) {
      assertThat(results.get(0).floats()).containsExactly(2, 3, 4, 5, 6, 7);
    }
  }

  @Test
  void aMissingLeafIsNamed() {
    assertThatThrownBy(() -> session.run(Map.of(), List.of(cell(x))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Input[2, 3]");
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
