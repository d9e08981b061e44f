package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.registry.Backends;
import dev.kastor.engine.exec.Results;
import dev.kastor.engine.exec.Session;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Layers whose lengths are data, beside those that are as long as their tensor. */
class DynamicRecurrenceTest {
  private static final int HIDDEN = 5;
  private static final int BATCH = 3;
  private static final int TIME = 7;

  /** A layer's leaves, and the sum of its squared outputs as loss. */
  private record Layer(Recurrent.Cell cell, Node projected, Node weights, Node bias, Node lengths) {
    static Layer of(Recurrent.Cell cell) {
      int width = cell.gates() * HIDDEN;
      return new Layer(
          cell,
          Node.input("projected", Type.f32(TIME, BATCH, width)),
          Node.parameter("w", Type.f32(HIDDEN, width).shape()),
          Node.parameter("b", Type.f32(width).shape()),
          Node.input("lengths", Type.f32(BATCH)));
    }

    DynamicRecurrence.Result dynamic() {
      return DynamicRecurrence.of(cell, projected, weights, bias, lengths);
    }

    Node fixed() {
      return Recurrent.output(Node.of(new Recurrent(cell), projected, weights, bias));
    }

    List<Node> withGradients(Node outputs) {
      Node flat = outputs.reshape(outputs.shape().elements());
      List<Node> fetches = new ArrayList<>(List.of(outputs));
      fetches.addAll(
          Gradients.of(flat.multiply(flat).sum(0, 1), List.of(projected, weights, bias)));
      return fetches;
    }

    Map<Node, float[]> values(float... lengthOfEach) {
      SplittableRandom random = new SplittableRandom(3);
      Map<Node, float[]> values = new HashMap<>();
      for (Node leaf : List.of(projected, weights, bias)) {
        float[] floats = new float[leaf.shape().elements()];
        for (int i = 0; i < floats.length; i++) {
          floats[i] = random.nextFloat(-1, 1);
        }
        values.put(leaf, floats);
      }
      values.put(lengths, lengthOfEach);
      return values;
    }
  }

  private static List<float[]> run(Map<Node, float[]> values, List<Node> fetches)
      throws InterruptedException {
    try (Arena arena = Arena.ofShared();
        Session session = new Session(Backends.fastest(2).backend(), 1 << 26, 2)) {
      Map<Node, Tensor> feeds = new HashMap<>();
      values.forEach((leaf, floats) -> {
        Tensor tensor = Tensor.allocate(arena, leaf.shape(), DType.F32);
        tensor.write(floats, 0);
        feeds.put(leaf, tensor);
      });
      try (Results results = session.run(feeds, fetches)) {
        List<float[]> all = new ArrayList<>();
        for (int i = 0; i < fetches.size(); i++) {
          all.add(results.get(i).floats());
        }
        return all;
      }
    }
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource
  void fullLengthsGiveTheLayerOfFixedLength(Recurrent.Cell cell) throws InterruptedException {
    Layer layer = Layer.of(cell);
    Map<Node, float[]> values = layer.values(TIME, TIME, TIME);
    List<float[]> expected = run(values, layer.withGradients(layer.fixed()));
    List<float[]> actual = run(values, layer.withGradients(layer.dynamic().outputs()));
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).as("result %d", i).containsExactly(expected.get(i), within(1e-5f));
    }
  }

  @ParameterizedTest
  @EnumSource
  void anExampleEndsWithItsLength(Recurrent.Cell cell) throws InterruptedException {
    Layer layer = Layer.of(cell);
    DynamicRecurrence.Result result = layer.dynamic();
    List<Node> fetches = List.of(result.outputs(), result.states().getFirst());
    List<float[]> all = run(layer.values(TIME, TIME, TIME), fetches);
    int[] lengths = {2, 0, 4};
    List<float[]> some = run(layer.values(2, 0, 4), fetches);
    for (int example = 0; example < BATCH; example++) {
      for (int t = 0; t < TIME; t++) {
        float[] expected =
            t < lengths[example] ? row(all.getFirst(), t, example) : new float[HIDDEN];
        assertThat(row(some.getFirst(), t, example))
            .as("example %d at %d", example, t)
            .containsExactly(expected);
      }
      float[] last =
          lengths[example] == 0
              ? new float[HIDDEN]
              : row(all.getFirst(), lengths[example] - 1, example);
      assertThat(row(some.getLast(), 0, example)).as("state of %d", example).containsExactly(last);
    }
  }

  /**
   * The gradients too are those of a layer of fixed length whose later outputs count for nothing.
   */
  @ParameterizedTest
  @EnumSource
  void gradientsEndWithTheLengthOfEach(Recurrent.Cell cell) throws InterruptedException {
    Layer layer = Layer.of(cell);
    Map<Node, float[]> values = layer.values(3, 0, 5);
    Node ends = layer.lengths().reshape(1, BATCH, 1);
    Node counts = ends.greater(Node.iota(Shape.of(TIME, 1, 1), 0));
    List<float[]> expected = run(values, layer.withGradients(layer.fixed().multiply(counts)));
    List<float[]> actual = run(values, layer.withGradients(layer.dynamic().outputs()));
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).as("result %d", i).containsExactly(expected.get(i), within(1e-5f));
    }
  }

  @Test
  void aCellOfOnesOwnStartsFromWhatItIsGiven() throws InterruptedException {
    Node inputs = Node.input("inputs", Type.f32(3, 2));
    Node lengths = Node.input("lengths", Type.f32(2));
    Node start = Node.input("start", Type.f32(2));
    DynamicRecurrence.Result sums =
        DynamicRecurrence.of(
            inputs,
            lengths,
            List.of(start),
            (x, states) -> List.of(states.getFirst().multiply(2).add(x)));
    Map<Node, float[]> values =
        Map.of(
            inputs, new float[] {1, 10, 2, 20, 3, 30},
            lengths, new float[] {3, 1},
            start, new float[] {100, 200});
    List<float[]> results = run(values, List.of(sums.outputs(), sums.states().getFirst()));
    assertThat(results.getFirst()).containsExactly(201, 410, 404, 0, 811, 0);
    assertThat(results.getLast()).containsExactly(811, 410);
  }

  /** What lies beyond an example's end is not a number, and nothing comes of it. */
  @ParameterizedTest
  @EnumSource
  void whatLiesBeyondTheEndDoesNotMatter(Recurrent.Cell cell) throws InterruptedException {
    Layer layer = Layer.of(cell);
    Map<Node, float[]> values = layer.values(3, 1, 2);
    float[] projected = Objects.requireNonNull(values.get(layer.projected()));
    int width = cell.gates() * HIDDEN;
    int[] lengths = {3, 1, 2};
    for (int t = 0; t < TIME; t++) {
      for (int example = 0; example < BATCH; example++) {
        if (t >= lengths[example]) {
          int from = (t * BATCH + example) * width;
          Arrays.fill(projected, from, from + width, Float.NaN);
        }
      }
    }
    for (float[] result : run(values, layer.withGradients(layer.dynamic().outputs()))) {
      for (float each : result) {
        assertThat(each).isFinite();
      }
    }
  }

  private static float[] row(float[] of, int t, int example) {
    int from = (t * BATCH + example) * HIDDEN;
    return Arrays.copyOfRange(of, from, from + HIDDEN);
  }
}
