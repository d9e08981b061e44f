package dev.kastor.engine.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Softmax;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is computed together, and that it comes to the same. */
class FusionTest {
  private static final CpuBackend CPU =
      ((CpuBackend.Availability.Available) CpuBackend.load(1)).backend();

  private final Node x = Node.input("x", Type.f32(4, 6));
  private final Node w = Node.input("w", Type.f32(6, 5));
  private final Node b = Node.input("b", Type.f32(5));
  private final Node r = Node.input("r", Type.f32(4, 5));

  @Test
  void aBiasAndAResidualAreAddedWhereAProductIsStored() {
    Node out = r.add(x.matMul(w).add(b));
    assertThat(kernels(Graph.of(out), x, w, b, r)).containsExactly("mat mul(bias, residual)");
  }

  @Test
  void aScaleIsOneStepOfAProduct() {
    assertThat(kernels(Graph.of(x.matMul(w).multiply(0.5).add(b)), x, w, b))
        .containsExactly("mat mul(scale, bias)");
  }

  @Test
  void aProductThatOthersReadIsStored() {
    Node product = x.matMul(w);
    assertThat(kernels(Graph.of(product.add(b).add(product.relu())), x, w, b))
        .containsExactly("mat mul", "add(add, relu)");
    assertThat(kernels(Graph.of(product, product.add(b)), x, w, b))
        .containsExactly("mat mul", "add");
  }

  @Test
  void aBiasIsAddedToRowsHoweverManyAxesCountThem() {
    Node y = Node.input("y", Type.f32(2, 2, 6));
    Node s = Node.input("s", Type.f32(2, 2, 5));
    assertThat(kernels(Graph.of(y.matMul(w).add(b)), y, w, b)).containsExactly("mat mul(bias)");
    assertThat(kernels(Graph.of(s.add(y.matMul(w).add(b)).multiply(0.5)), y, w, b, s))
        .containsExactly("mat mul(bias, residual, scale)");
  }

  @Test
  void aBiasOfRowsThatWereCutIsAddedAfterwards() {
    Node cut = Node.input("cut", Type.f32(3));
    Node wide = Node.input("wide", Type.f32(6, 6));
    assertThat(kernels(Graph.of(x.matMul(wide).reshape(8, 3).add(cut)), x, wide, cut))
        .containsExactly("mat mul", "add");
  }

  @Test
  void theSameFoldUnderTwoShapesIsMadeOnce() {
    Node y = Node.input("y", Type.f32(2, 3, 5));
    Node flat = y.reshape(6, 5);
    assertThat(kernels(Graph.of(y.sum(0, 2), flat.sum(0, 1)), y)).containsExactly("reduce sum");
    assertThat(kernels(Graph.of(y.sum(0, 1), flat.sum(0, 1), flat.maximum(0, 1)), y))
        .containsExactly("reduce sum", "reduce sum", "reduce maximum");
    Node cut = y.reshape(2, 15).sum(1, 2);
    assertThat(kernels(Graph.of(cut, y.sum(1, 3), y.reshape(3, 10).sum(0, 1)), y))
        .containsExactly("reduce sum", "reduce sum");
  }

  @Test
  void oneOfTwoProductsTakesTheOther() {
    Node v = Node.input("v", Type.f32(6, 5));
    assertThat(kernels(Graph.of(x.matMul(w).add(x.matMul(v)).add(b)), x, w, v, b))
        .containsExactly("mat mul", "mat mul(residual, bias)");
  }

  @Test
  void aSumThatIsLongerThanAPrimitiveTakesIsCut() {
    Node sum = x.matMul(w);
    for (int i = 0; i < 40; i++) {
      sum = sum.add(r);
    }
    assertThat(kernels(Graph.of(sum), x, w, r))
        .containsExactly(
            "mat mul(" + String.join(", ", Collections.nCopies(32, "residual")) + ")",
            "add(7 add)");
  }

  @Test
  void whatIsNoNumberIsNotHiddenByWhatFollows() {
    Node out = x.matMul(w).add(b).relu();
    float[] values = new float[24];
    values[0] = Float.NaN;
    try (Executable executable = CPU.compile(Graph.of(out))) {
      executable.input(x).write(values, 0);
      executable.input(w).write(new float[30], 0);
      executable.input(b).write(new float[5], 0);
      executable.run();
      float[] result = new float[20];
      executable.output(0).read(result, 0);
      assertThat(result[0]).isNaN();
      assertThat(result[5]).isZero();
    }
  }

  @Test
  void headsOfAttentionAreReadWhereTheyLie() {
    Node all = Node.input("all", Type.f32(2 * 3, 3 * 8));
    Node[] parts = new Node[3];
    for (int i = 0; i < 3; i++) {
      parts[i] = all.slice(1, i * 8, i * 8 + 8).reshape(2, 3, 4, 2).permute(0, 2, 1, 3);
    }
    Node scores = parts[0].matMul(parts[1], false, true).multiply(0.7);
    Node mixed = Node.of(new Softmax(true), scores).matMul(parts[2]);
    Node out = mixed.permute(0, 2, 1, 3).reshape(6, 8);
    assertThat(kernels(Graph.of(out), all))
        .containsExactly("mat mul(scale)", "softmax", "mat mul", "permute");
    Node gradient = Gradients.of(out.multiply(out).sum(0, 2), List.of(all)).getFirst();
    assertThat(kernels(Graph.of(gradient), all)).endsWith("join(3)").doesNotContain("slice", "pad");
  }

  @Test
  void aViewThatOneStrideForEachAxisCannotTellIsCopied() {
    Node a = Node.input("a", Type.f32(2, 3, 4));
    Node v = Node.input("v", Type.f32(8, 2));
    assertThat(kernels(Graph.of(a.permute(1, 0, 2).reshape(3, 8).matMul(v)), a, v))
        .containsExactly("permute", "mat mul");
    // Its transpose is told by strides.
    Node u = Node.input("u", Type.f32(4, 6));
    assertThat(kernels(Graph.of(u.permute(1, 0).matMul(u.slice(1, 1, 4))), u))
        .containsExactly("mat mul");
  }

  @Test
  void aViewThatOthersReadTooIsCopied() {
    Node a = Node.input("a", Type.f32(4, 6));
    Node part = a.slice(1, 1, 4);
    assertThat(kernels(Graph.of(part.matMul(part, true, false), part), a))
        .containsExactly("slice", "mat mul");
  }

  @Test
  void onlyPartsThatFillTheWholeAreJoined() {
    Node one = Node.input("one", Type.f32(3, 2));
    Node two = Node.input("two", Type.f32(3, 4));
    assertThat(kernels(Graph.of(two.pad(1, 2, 0).add(one.pad(1, 0, 4))), one, two))
        .containsExactly("join(2)");
    assertThat(kernels(Graph.of(two.pad(1, 2, 1).add(one.pad(1, 0, 5))), one, two))
        .containsExactly("pad", "pad", "add");
    assertThat(kernels(Graph.of(two.pad(1, 1, 1).add(one.pad(1, 0, 4))), one, two))
        .containsExactly("pad", "pad", "add");
  }

  /** The kernels of a graph, after its values were compared with those of plain loops. */
  private static List<String> kernels(Graph graph, Node... inputs) {
    List<String> heard = new ArrayList<>();
    Backend observed =
        CPU.observedBy(kernel -> {
          heard.add(kernel.op());
          return (start, end) -> {};
        });
    List<float[]> fast = Runs.twice(observed, graph, List.of(inputs));
    List<float[]> plain = Runs.twice(new ReferenceBackend(), graph, List.of(inputs));
    for (int o = 0; o < plain.size(); o++) {
      for (int i = 0; i < plain.get(o).length; i++) {
        assertThat(fast.get(o)[i])
            .as("result %d at %d", o, i)
            .isCloseTo(plain.get(o)[i], within(1e-4f));
      }
    }
    return heard;
  }
}
