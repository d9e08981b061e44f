package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.AddToRow;
import dev.kastor.engine.op.RowAt;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is changed where it lies, and what is not because others still look at it. */
class IncrementTest {
  private static final int ROWS = 256;
  private static final int WIDTH = 2048;
  private static final long TENSOR_BYTES = 4L * ROWS * WIDTH;

  private final Arena arena = Arena.ofShared();
  private final Session session =
      new Session(Backends.fastest(2).backend(), 3 * TENSOR_BYTES - 1, 2);
  private final Node x = Node.input("x", Type.f32(ROWS, WIDTH));

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private Tensor ones(Node leaf) {
    Tensor tensor = Tensor.allocate(arena, leaf.shape(), DType.F32);
    for (int i = 0; i < leaf.shape().elements(); i++) {
      tensor.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
    }
    return tensor;
  }

  private static Node row(double value) {
    return Node.constant(value).broadcast(Type.f32(WIDTH).shape());
  }

  /** There is memory for the zeros and for the tensor, but not for another. */
  @Tag("slow")
  @Test
  void aLoopFillsATensorWithoutCopyingIt() throws InterruptedException {
    List<Node> last =
        ControlFlow.loop(
            List.of(Node.constant(0), Node.constant(0).broadcast(x.shape())),
            values -> Node.constant(ROWS).greater(values.getFirst()),
            values -> {
              Node i = values.getFirst();
              Node row = i.add(1).broadcast(Type.f32(WIDTH).shape());
              return List.of(i.add(1), AddToRow.of(values.get(1), i, row));
            });
    try (Results results = session.run(Map.of(), List.of(last.get(1)))) {
      for (int i = 0; i < ROWS; i++) {
        assertThat(results.get(0).get((long) i * WIDTH)).isEqualTo(i + 1);
      }
    }
  }

  /** The gradient of what a loop reads row by row is filled likewise, and once per row. */
  @Tag("slow")
  @Test
  void theGradientOfRowsIsFilledWithoutCopyingIt() throws InterruptedException {
    Node sum =
        ControlFlow.loop(
                List.of(Node.constant(0), row(0)),
                values -> Node.constant(ROWS).greater(values.getFirst()),
                values -> {
                  Node i = values.getFirst();
                  Node row = RowAt.of(x, i).multiply(3);
                  return List.of(i.add(1), values.get(1).add(row));
                },
                1)
            .get(1);
    Node gradient = Gradients.of(sum.sum(0, 1), List.of(x)).getFirst();
    try (Results results = session.run(Map.of(x, ones(x)), List.of(gradient))) {
      assertThat(results.get(0).floats()).containsOnly(3);
    }
  }

  @Test
  void whatOthersHoldIsNotChanged() throws InterruptedException {
    Node small = Node.input("small", Type.f32(3, 2));
    Node before = small.multiply(2);
    Node added = Node.constant(5).broadcast(Type.f32(2).shape());
    Node first = AddToRow.of(before, Node.constant(0), added);
    Node second = AddToRow.of(first, Node.constant(1), added);
    Node fed = AddToRow.of(small, Node.constant(2), added);
    Tensor ones = ones(small);
    List<Node> fetches = List.of(before, first, second, fed);
    try (Results results = session.run(Map.of(small, ones), fetches)) {
      assertThat(results.get(0).floats()).containsExactly(2, 2, 2, 2, 2, 2);
      assertThat(results.get(1).floats()).containsExactly(7, 7, 2, 2, 2, 2);
      assertThat(results.get(2).floats()).containsExactly(7, 7, 7, 7, 2, 2);
      assertThat(results.get(3).floats()).containsExactly(1, 1, 1, 1, 6, 6);
      assertThat(ones.floats()).containsOnly(1);
    }
  }

  @Test
  void sumsOfIncrementsAreIncrementsOfTheSum() throws InterruptedException {
    Node small = Node.input("small", Type.f32(4, 2));
    Node nothing = Node.constant(0).broadcast(small.shape());
    Node sum = small;
    for (int i : IntStream.of(0, 1, 1, 3).toArray()) {
      Node added = Node.constant(10).broadcast(Type.f32(2).shape());
      sum = Increment.sum(sum, AddToRow.of(nothing, Node.constant(i), added));
      assertThat(sum.op()).isInstanceOf(AddToRow.class);
    }
    assertThat(Increment.sum(nothing, small)).isSameAs(small);
    Node earlier = Node.group(List.of());
    List<Node> inputs = List.of(nothing, Node.constant(0), Node.input("row", Type.f32(2)));
    Node later = Node.of(new AddToRow(), inputs, List.of(earlier)).at("b");
    assertThat(Increment.sum(small, later).after()).containsExactly(earlier);
    assertThat(Increment.sum(small, later).place()).isEqualTo("b");
    Node twice = Increment.sum(sum, sum);
    try (Results results = session.run(Map.of(small, ones(small)), List.of(sum, twice))) {
      assertThat(results.get(0).floats()).containsExactly(11, 11, 21, 21, 1, 1, 11, 11);
      assertThat(results.get(1).floats()).containsExactly(22, 22, 42, 42, 2, 2, 22, 22);
    }
  }
}
