package dev.kastor.engine.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Effects take place once where their nodes are needed, and end with their run. */
class EffectsTest {
  private static final long CAP = 1 << 24;

  private final Arena arena = Arena.ofShared();
  private final Session session = new Session(new ReferenceBackend(), CAP, 2);
  private final List<Float> sums = new ArrayList<>();

  /** Adds its operand to what it was given before. */
  private final JavaCall sum =
      new JavaCall(
          "sum",
          List.of(Type.f32()),
          operands -> {
            float last = sums.isEmpty() ? 0 : sums.getLast();
            sums.add(last + operands.getFirst()[0]);
            return List.of(new float[] {sums.getLast()});
          });

  @AfterEach
  void close() {
    session.close();
    arena.close();
  }

  private float fetch(Node node) throws InterruptedException {
    try (Results results = session.run(List.of(node))) {
      return results.get(0).get(0);
    }
  }

  @Test
  void takesPlaceOnceInEachRunHoweverManyUseIt() throws InterruptedException {
    Node one = sum.call(List.of(Node.constant(2)));
    Node twice = one.multiply(one).add(one);
    assertThat(fetch(twice)).isEqualTo(6);
    assertThat(fetch(twice)).isEqualTo(20);
    assertThat(sums).containsExactly(2f, 4f);
  }

  @Tag("slow")
  @Test
  void takesPlaceAfterWhatItIsSaidToComeAfter() throws InterruptedException {
    Node first = sum.call(List.of(Node.constant(1)));
    Node second = sum.call(List.of(Node.constant(10)), first);
    Node third = sum.call(List.of(Node.constant(100)), second);
    assertThat(fetch(third)).isEqualTo(111);
    assertThat(sums).containsExactly(1f, 11f, 111f);
  }

  @Test
  void takesPlaceOnceInEachIteration() throws InterruptedException {
    List<Node> last =
        ControlFlow.loop(
            List.of(Node.constant(0), Node.constant(0)),
            values -> Node.constant(4.5).greater(values.get(0)),
            values ->
                List.of(values.get(0).add(1), sum.call(List.of(Node.constant(10)), values.get(1))));
    assertThat(fetch(last.get(1))).isEqualTo(50);
    assertThat(sums).hasSize(5);
  }

  @Test
  void theBranchThatIsNotTakenHasNoEffect() throws InterruptedException {
    Node predicate = Node.input("p", Type.f32());
    Node chosen =
        ControlFlow.cond(
                predicate,
                List.of(Node.constant(3)),
                operands -> List.of(sum.call(operands)),
                operands -> operands)
            .getFirst();
    for (float p : new float[] {0, 1, 0}) {
      Tensor scalar = Tensor.allocate(arena, Shape.of(), DType.F32);
      scalar.write(new float[] {p}, 0);
      session.run(Map.of(predicate, scalar), List.of(chosen)).close();
    }
    assertThat(sums).containsExactly(3f);
  }

  @Test
  void iterationsOverlapAsFarAsTheyMay() throws InterruptedException {
    for (int parallel : new int[] {1, 3}) {
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      CountDownLatch together = new CountDownLatch(parallel);
      JavaCall wait =
          new JavaCall(
              "wait",
              List.of(Type.f32()),
              operands -> {
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                together.countDown();
                together.await();
                inside.decrementAndGet();
                return operands;
              });
      List<Node> last =
          ControlFlow.loop(
              List.of(Node.constant(0), Node.constant(0)),
              values -> Node.constant(8.5).greater(values.get(0)),
              values ->
                  List.of(values.get(0).add(1), wait.call(List.of(values.get(0))).multiply(1)),
              parallel);
      assertThat(fetch(last.get(1))).isEqualTo(8);
      assertThat(most.get()).as("iterations at once").isEqualTo(parallel);
    }
  }

  @Test
  void aRunThatFailsEndsTheWaitOfItsOtherSteps() {
    JavaCall fail =
        new JavaCall(
            "fail",
            List.of(Type.f32()),
            _ -> {
              throw new IllegalStateException("as told");
            });
    Node never = JavaCall.endless(Type.f32()).call(List.of());
    assertThatThrownBy(() -> session.run(List.of(never.add(1), fail.call(List.of()))))
        .hasMessageContaining("as told");
    assertThat(session.memory().usedBytes() - session.memory().compiledBytes()).isZero();
  }

  @Test
  void whoIsInterruptedStopsWaiting() throws InterruptedException {
    Node never = JavaCall.endless(Type.f32()).call(List.of());
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> session.run(List.of(never))).isInstanceOf(InterruptedException.class);
    assertThat(fetch(Node.constant(3))).as("the session lives on").isEqualTo(3);
  }
}
