package dev.kastor.engine.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Gradients of branches and loops against those of the same computation written out. */
class ControlGradientsTest {
  private static final int WIDTH = 3;
  private static final double CLOSE = 1e-9;

  private final Node x = Node.input("x", Type.f32(2, WIDTH));
  private final Node weights = Node.parameter("w", Type.f32(WIDTH, WIDTH).shape());
  private final Node bias = Node.parameter("b", Type.f32(WIDTH).shape());

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

  private static Node unrolled(Node initial, int times, UnaryOperator<Node> body) {
    Node state = initial;
    for (int i = 0; i < times; i++) {
      state = body.apply(state);
    }
    return state;
  }

  private void agree(Node looped, Node written) {
    List<double[]> expected = lossAndGradients(written);
    List<double[]> actual = lossAndGradients(looped);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).as("output %d", i).containsExactly(expected.get(i), within(CLOSE));
    }
    assertThat(expected.get(1)).as("the gradient says something").isNotEqualTo(new double[6]);
  }

  private List<double[]> lossAndGradients(Node result) {
    Node loss = result.multiply(result).reshape(result.shape().elements()).sum(0, 1);
    List<Node> outputs = new ArrayList<>(List.of(loss));
    outputs.addAll(Gradients.of(loss, List.of(x, weights, bias)));
    return new ReferenceBackend().evaluate(new Graph(outputs), leaves());
  }

  private Map<Node, double[]> leaves() {
    SplittableRandom random = new SplittableRandom(5);
    Map<Node, double[]> leaves = new HashMap<>();
    for (Node leaf : List.of(x, weights, bias)) {
      leaves.put(leaf, random.doubles(leaf.shape().elements(), -1, 1).toArray());
    }
    return leaves;
  }

  @Test
  void loopAgreesWithItsIterationsWrittenOut() {
    agree(loop(x, 5, this::cell), unrolled(x, 5, this::cell));
  }

  @Test
  void loopThatNeverRunsPassesItsGradientOn() {
    agree(loop(x, 0, this::cell), x.add(weights.sum(0, 2).multiply(0)));
  }

  @Test
  void loopInLoop() {
    UnaryOperator<Node> inner = state -> loop(state, 3, this::cell).multiply(0.7);
    agree(loop(x, 2, inner), unrolled(x, 2, state -> unrolled(state, 3, this::cell).multiply(0.7)));
  }

  @Test
  void innerLoopAsLongAsTheOuterSays() {
    Node looped =
        ControlFlow.loop(
                List.of(Node.constant(1), x),
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
            .get(1);
    agree(looped, unrolled(x, 6, this::cell));
  }

  @Test
  void branchAgreesWithTheOneThatWasTaken() {
    for (int sign : new int[] {-1, 1}) {
      Node predicate = Node.constant(sign).greater(Node.constant(0));
      Node chosen =
          ControlFlow.cond(
                  predicate,
                  List.of(x),
                  operands -> List.of(cell(operands.getFirst()).exp()),
                  operands -> List.of(operands.getFirst().multiply(bias)))
              .getFirst();
      agree(chosen, sign > 0 ? cell(x).exp() : x.multiply(bias));
    }
  }

  @Test
  void branchInLoop() {
    UnaryOperator<Node> alternating =
        state -> {
          Node total = state.sum(0, 2);
          return ControlFlow.cond(
                  total.greater(Node.constant(0.3)),
                  List.of(state),
                  operands -> List.of(cell(operands.getFirst()).negate()),
                  operands -> List.of(operands.getFirst().multiply(bias).add(1)))
              .getFirst();
        };
    double[] signs = new double[4];
    Node state = x;
    for (int i = 0; i < 4; i++) {
      signs[i] = new ReferenceBackend().evaluate(Graph.of(state.sum(0, 2)), leaves()).getFirst()[0];
      state = signs[i] > 0.3 ? cell(state).negate() : state.multiply(bias).add(1);
    }
    assertThat(Arrays.stream(signs).boxed())
        .as("both branches are taken")
        .anyMatch(s -> s > 0.3)
        .anyMatch(s -> s < 0.3);
    agree(loop(x, 4, alternating), state);
  }

  @Test
  void whatIsTheSameInEveryIterationIsComputedOnceOutside() {
    Node product = weights.matMul(weights);
    Node looped = loop(x, 3, state -> state.matMul(product));
    assertThat(Graph.of(looped).topological()).contains(product);
    agree(looped, unrolled(x, 3, state -> state.matMul(product)));
  }

  @Test
  void theGradientOfAGradientIsRefused() {
    Node result = loop(x, 2, this::cell);
    Node gradient = Gradients.of(result.sum(0, 2), List.of(x)).getFirst();
    assertThatThrownBy(() -> Gradients.of(gradient.sum(0, 2), List.of(x)))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("Unroll");
  }
}
