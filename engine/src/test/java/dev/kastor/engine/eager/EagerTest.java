package dev.kastor.engine.eager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.exec.JavaCall;
import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Eager and staged computation give the same. */
@Tag("slow")
class EagerTest {
  private static final long CAP = 1 << 23;

  private final Eager eager = new Eager(new ReferenceBackend(), CAP);

  @AfterEach
  void close() {
    eager.close();
  }

  private Node vector(float... values) {
    return eager.of(Shape.of(values.length), values);
  }

  private float[] floats(Node node) throws InterruptedException {
    return eager.value(node).floats();
  }

  @Test
  void javaDecidesOnValues() throws InterruptedException {
    Node x = vector(1, 2);
    int steps = 0;
    while (eager.scalar(x.sum(0, 1)) < 100) {
      x = x.add(x);
      steps++;
    }
    assertThat(steps).isEqualTo(6);
    assertThat(floats(x)).containsExactly(64, 128);
  }

  @Test
  void gradientsFollowThePathThatWasTaken() throws InterruptedException {
    for (float start : new float[] {2, -2}) {
      Node x = vector(start);
      Node y = eager.scalar(x) > 0 ? x.multiply(x) : x.exp();
      Node gradient = Gradients.of(y, List.of(x)).getFirst();
      assertThat((double) eager.scalar(gradient))
          .isCloseTo(start > 0 ? 2 * start : Math.exp(start), within(1e-6));
    }
  }

  @Test
  void eagerEqualsStaged() throws InterruptedException {
    Node weights = eager.of(Shape.of(2, 2), 0.5f, -0.25f, 1, 0.75f);
    Staged.Function model =
        (inputs, constants) -> {
          Node state = inputs.getFirst();
          for (int i = 0; i < (Integer) constants.getFirst(); i++) {
            state = state.matMul(weights).tanh();
          }
          Node loss = state.multiply(state).sum(0, 2);
          return List.of(loss, Gradients.of(loss, List.of(weights)).getFirst());
        };
    Staged staged = new Staged(eager, model);
    for (float value : new float[] {1, -0.5f}) {
      Node x = eager.of(Shape.of(1, 2), value, 2 * value);
      List<Node> expected = model.apply(List.of(x), List.of(3));
      List<Node> actual = staged.call(List.of(x), 3);
      for (int i = 0; i < 2; i++) {
        assertThat(floats(actual.get(i))).containsExactly(floats(expected.get(i)), within(1e-6f));
      }
    }
    assertThat(staged.traces()).isEqualTo(1);
  }

  @Test
  void isTracedOnceForTypesAndConstants() throws InterruptedException {
    AtomicInteger ran = new AtomicInteger();
    Staged staged =
        new Staged(
            eager,
            (inputs, constants) -> {
              ran.incrementAndGet();
              return List.of(inputs.getFirst().multiply((Double) constants.getFirst()));
            });
    assertThat(floats(staged.call(List.of(vector(1, 2)), 2.0).getFirst())).containsExactly(2, 4);
    assertThat(floats(staged.call(List.of(vector(3, 4)), 2.0).getFirst())).containsExactly(6, 8);
    assertThat(floats(staged.call(List.of(vector(3, 4)), 3.0).getFirst())).containsExactly(9, 12);
    assertThat(floats(staged.call(List.of(vector(3)), 3.0).getFirst())).containsExactly(9);
    assertThat(ran.get()).isEqualTo(3);
  }

  @Test
  void gradientsPassThroughAStagedCallWithoutEffects() throws InterruptedException {
    Staged square =
        new Staged(eager, (inputs, _) -> List.of(inputs.getFirst().multiply(inputs.getFirst())));
    Node x = vector(3);
    Node y = square.call(List.of(x)).getFirst().add(x);
    assertThat(eager.scalar(Gradients.of(y, List.of(x)).getFirst())).isEqualTo(7);
  }

  @Test
  void effectsTakePlaceInEachCallAndJavaCodeWhenTraced() throws InterruptedException {
    List<Float> seen = new ArrayList<>();
    JavaCall note =
        new JavaCall(
            "note",
            List.of(Type.f32(1)),
            operands -> {
              seen.add(operands.getFirst()[0]);
              return operands;
            });
    Staged staged = new Staged(eager, (inputs, _) -> List.of(note.call(inputs).add(1)));
    for (float value : new float[] {5, 6, 7}) {
      assertThat(floats(staged.call(List.of(vector(value))).getFirst())).containsExactly(value + 1);
    }
    assertThat(seen).containsExactly(5f, 6f, 7f);
  }

  @Test
  void effectsAreTheSameInEagerAndStagedCode() throws InterruptedException {
    float[] sum = {1};
    JavaCall add =
        new JavaCall(
            "add",
            List.of(Type.f32(1)),
            operands -> {
              sum[0] += operands.getFirst()[0];
              return List.of(sum.clone());
            });
    Staged staged = new Staged(eager, (inputs, _) -> List.of(add.call(inputs)));
    assertThat(floats(staged.call(List.of(vector(2))).getFirst())).containsExactly(3);
    Node once = add.call(List.of(vector(10)));
    assertThat(floats(once)).containsExactly(13);
    assertThat(floats(once)).as("an effect takes place once").containsExactly(13);
    eager.run(JavaCall.of("reset", () -> sum[0] = 0).call(List.of(), once));
    assertThat(sum[0]).as("without a result").isZero();
  }

  @Test
  void graphLoopsRunEagerly() throws InterruptedException {
    Node x = vector(1);
    Node doubled =
        ControlFlow.loop(
                List.of(x),
                values -> Node.constant(10).greater(values.getFirst().sum(0, 1)),
                values -> List.of(values.getFirst().multiply(2)))
            .getFirst();
    assertThat(floats(doubled)).containsExactly(16);
    assertThat(floats(Gradients.of(doubled, List.of(x)).getFirst())).containsExactly(16);
  }

  @Test
  void whatNobodyReachesIsReleased() throws InterruptedException {
    int elements = 1 << 17;
    Node x = eager.of(Shape.of(elements), new float[elements]);
    for (int i = 0; i < 100; i++) {
      x = eager.detach(x.add(1));
    }
    assertThat(eager.value(x).get(elements - 1)).isEqualTo(100);
  }

  @Test
  void opsThatAreAllDifferentDoNotPileUp() throws InterruptedException {
    Node x = vector(0);
    for (int i = 1; i <= 3000; i++) {
      x = eager.detach(x.add(i));
    }
    assertThat(eager.scalar(x)).isEqualTo(3000 * 3001 / 2);
    long compiled = eager.session().memory().compiledBytes();
    for (int i = 1; i <= 1500; i++) {
      x = eager.detach(x.add(-i));
    }
    assertThat(eager.session().memory().compiledBytes()).isEqualTo(compiled);
  }

  @Test
  void aLeafWithoutAValueIsNamed() {
    Node leaf = Node.input("nothing", Type.f32(2));
    assertThatThrownBy(() -> eager.value(leaf.add(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Input[2] has no value");
  }
}
