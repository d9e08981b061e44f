package dev.kastor.engine.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.Update;
import dev.kastor.plugin.Chosen;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OptimizersTest {
  static List<String> names() {
    return Optimizers.BUILT_IN.names();
  }

  private static Layout flat(int parameters) {
    return Layout.of("parameters", parameters);
  }

  private static Optimizer create(String text) {
    Chosen<OptimizerPlugin> chosen = Optimizers.BUILT_IN.choose(text);
    return chosen.plugin().create(chosen.options());
  }

  @ParameterizedTest
  @MethodSource("names")
  void findsTheMinimumOfAQuadratic(String name) {
    Optimizer optimizer = create(name + ":momentum=0.9:weightDecay=0");
    // A rate that falls to 0, as steps of a size by the parameters never end; that of LARS is as
    // much higher as its factor is lower.
    double rate = name.equals("lars") ? 20 : 0.02;
    Layout layout = Layout.of(List.of("layer.weight"), List.of(Shape.of(3, 1)));
    float[] target = {1, -2, 3};
    float[] curvature = {1, 5, 0.5f};
    float[] parameters = {0.5f, 0.5f, 0.5f};
    SequencedMap<String, float[]> slots = optimizer.newSlots(layout);
    float[] gradient = new float[3];
    for (long step = 0; step < 3000; step++) {
      for (int i = 0; i < 3; i++) {
        gradient[i] = curvature[i] * (parameters[i] - target[i]);
      }
      double falling = rate * (1 - step / 3000.0);
      optimizer.apply(new Update(layout, parameters, gradient, slots, falling, step));
    }
    for (int i = 0; i < 3; i++) {
      assertThat(parameters[i]).isCloseTo(target[i], within(0.01f));
    }
    assertThat(optimizer.name()).isEqualTo(name);
  }

  @ParameterizedTest
  @MethodSource("names")
  void isDeterministicToTheBit(String name) {
    assertThat(train(create(name + ":weightDecay=0.0001")))
        .isEqualTo(train(create(name + ":weightDecay=0.0001")));
  }

  private static float[] train(Optimizer optimizer) {
    SplittableRandom random = new SplittableRandom(1);
    Layout layout =
        Layout.of(List.of("a.weight", "a.bias"), List.of(Shape.of(40, 25), Shape.of(1)));
    float[] parameters = new float[1001];
    float[] gradient = new float[1001];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = (float) random.nextGaussian();
    }
    SequencedMap<String, float[]> slots = optimizer.newSlots(layout);
    for (long step = 0; step < 50; step++) {
      for (int i = 0; i < gradient.length; i++) {
        gradient[i] = (float) random.nextGaussian();
      }
      optimizer.apply(new Update(layout, parameters, gradient, slots, 0.01, step));
    }
    return parameters;
  }

  @Test
  void sgdFollowsItsFormula() {
    Sgd sgd = new Sgd(0.5, 0.1);
    float[] parameters = {2};
    float[] velocity = {3};
    var slots = new LinkedHashMap<>(Map.of("velocity", velocity));
    sgd.apply(new Update(flat(1), parameters, new float[] {1}, slots, 0.1, 7));

    // v = 0.5 * 3 + (1 + 0.1 * 2) = 2.7; w = 2 - 0.27
    assertThat(velocity[0]).isCloseTo(2.7f, within(1e-6f));
    assertThat(parameters[0]).isCloseTo(1.73f, within(1e-6f));
    assertThat(new Sgd(0, 0).slots(flat(10))).isEmpty();
  }

  @Test
  void adamsFirstStepIsTheLearningRateWhateverTheGradientsSize() {
    for (float size : new float[] {1e-3f, 1, 1e3f}) {
      float[] parameters = {0};
      Adam adam = new Adam(0.9, 0.999, 1e-8, 0);
      adam.apply(
          new Update(flat(1), parameters, new float[] {size}, adam.newSlots(flat(1)), 0.01, 0));
      assertThat(parameters[0]).isCloseTo(-0.01f, within(1e-5f));
    }
  }

  @Test
  void adamFollowsItsFormulaAtALaterStep() {
    double beta1 = 0.8;
    double beta2 = 0.9;
    float[] parameters = {1};
    var slots = new LinkedHashMap<>(Map.of("first", new float[] {0.5f}));
    slots.put("second", new float[] {0.25f});
    new Adam(beta1, beta2, 1e-3, 0.01)
        .apply(new Update(flat(1), parameters, new float[] {2}, slots, 0.1, 4));

    double first = 0.8 * 0.5 + 0.2 * 2;
    double second = 0.9 * 0.25 + 0.1 * 4;
    double hat1 = first / (1 - Math.pow(beta1, 5));
    double hat2 = second / (1 - Math.pow(beta2, 5));
    double expected = 1 - 0.1 * hat1 / (Math.sqrt(hat2) + 1e-3) - 0.1 * 0.01 * 1;
    assertThat((double) parameters[0]).isCloseTo(expected, within(1e-6));
  }

  /** A matrix of (3, 4), a bias of 2, and a matrix of zeros. */
  private static final Layout LAYERS =
      Layout.of(
          List.of("a.weight", "a.bias", "b.weight"),
          List.of(Shape.of(2, 1), Shape.of(1), Shape.of(1, 1)));

  @Test
  void larsGivesEachMatrixARateByItsSize() {
    float[] parameters = {3, 4, 2, 0};
    float[] velocity = {1, 1, 1, 1};
    var slots = new LinkedHashMap<>(Map.of("velocity", velocity));
    new Lars(0.5, 0.2, 0.5)
        .apply(new Update(LAYERS, parameters, new float[] {0, 4, 6, 8}, slots, 0.1, 0));

    // |w| = 5, |g| = 4: l = 0.5 * 5 / (4 + 0.2 * 5) = 0.5; the bias and the zeros take l = 1, and
    // the bias does not decay.
    assertThat(velocity[0]).isCloseTo(0.5f * 1 + 0.5f * (0 + 0.2f * 3), within(1e-6f));
    assertThat(velocity[1]).isCloseTo(0.5f * 1 + 0.5f * (4 + 0.2f * 4), within(1e-6f));
    assertThat(velocity[2]).isCloseTo(6.5f, within(1e-6f));
    assertThat(velocity[3]).isCloseTo(8.5f, within(1e-6f));
    float[] expected = {3 - 0.08f, 4 - 0.29f, 2 - 0.65f, -0.85f};
    assertThat(parameters).containsExactly(expected, within(1e-6f));
  }

  @Test
  void lambScalesTheUpdateOfEachMatrixToItsSize() {
    float[] parameters = {3, 4, 2, 0};
    Lamb lamb = new Lamb(0.9, 0.999, 1 - 1e-9, 0.5);
    var slots = lamb.newSlots(LAYERS);
    Update update = new Update(LAYERS, parameters, new float[] {1, 3, 4, 1}, slots, 0.1, 0);
    lamb.apply(update);

    // At the first step m' = g and v' = g^2, so with an epsilon of 1 r = g / (|g| + 1): (1/2, 3/4).
    // With decay (1/2 + 3/2, 3/4 + 2) = (2, 11/4), of norm sqrt(185) / 4; |w| = 5.
    double factor = 5 / (Math.sqrt(185) / 4);
    assertThat((double) parameters[0]).isCloseTo(3 - 0.1 * factor * 2, within(1e-5));
    assertThat((double) parameters[1]).isCloseTo(4 - 0.1 * factor * 2.75, within(1e-5));
    assertThat((double) parameters[0]).isCloseTo(2.705914, within(1e-5));
    assertThat((double) parameters[1]).isCloseTo(3.595632, within(1e-5));
    assertThat((double) parameters[2]).isCloseTo(2 - 0.1 * 4 / 5, within(1e-5));
    assertThat((double) parameters[3]).isCloseTo(-0.1 * 1 / 2, within(1e-5));
    assertThat(update.slot("first")[1]).isCloseTo(0.3f, within(1e-6f));
    assertThat(update.slot("second")[1]).isCloseTo(0.009f, within(1e-6f));
  }

  @Test
  void layersThatAreWrittenTwiceAsLargeTrainTheSame() {
    // Both rates are by size: a network whose matrix is c times as large, with a gradient that is c
    // times as small, moves c times as far.
    for (Optimizer optimizer : List.of(new Lars(0.9, 0, 0.001), new Lamb(0.9, 0.999, 1e-12, 0))) {
      float[] small = {3, 4, 2, 1};
      float[] large = {12, 16, 2, 4};
      var smallSlots = optimizer.newSlots(LAYERS);
      var largeSlots = optimizer.newSlots(LAYERS);
      for (long step = 0; step < 10; step++) {
        float[] gradient = {1 + step, 2, 0.5f, 3};
        float[] scaled = {(1 + step) / 4f, 0.5f, 0.5f, 0.75f};
        optimizer.apply(new Update(LAYERS, small, gradient, smallSlots, 0.1, step));
        optimizer.apply(new Update(LAYERS, large, scaled, largeSlots, 0.1, step));
      }
      assertThat(large[0]).isCloseTo(4 * small[0], within(1e-4f));
      assertThat(large[1]).isCloseTo(4 * small[1], within(1e-4f));
      assertThat(large[3]).isCloseTo(4 * small[3], within(1e-4f));
    }
  }

  @Test
  void lambOfAVectorIsAdam() {
    Lamb lamb = new Lamb(0.8, 0.9, 1e-3, 0);
    Adam adam = new Adam(0.8, 0.9, 1e-3, 0);
    float[] ours = {1, -2};
    float[] theirs = {1, -2};
    var lambs = lamb.newSlots(flat(2));
    var adams = adam.newSlots(flat(2));
    for (long step = 0; step < 10; step++) {
      float[] gradient = {1 + step, -0.5f};
      lamb.apply(new Update(flat(2), ours, gradient.clone(), lambs, 0.1, step));
      adam.apply(new Update(flat(2), theirs, gradient, adams, 0.1, step));
    }
    assertThat(ours).containsExactly(theirs, within(1e-5f));
  }

  @Test
  void theLeastGradientsLeaveNumbers() {
    Layout matrix = Layout.of(List.of("weight"), List.of(Shape.of(2, 1)));
    for (Optimizer optimizer : List.of(new Lars(0.9, 0, 0.001), new Lamb(0.9, 0.999, 1e-12, 0))) {
      float[] parameters = {1000, 0};
      var slots = optimizer.newSlots(matrix);
      for (float[] slot : slots.values()) {
        slot[0] = Float.MIN_VALUE;
      }
      optimizer.apply(
          new Update(matrix, parameters, new float[] {Float.MIN_VALUE, 0}, slots, 0.1, 0));
      assertThat(parameters[0]).as(optimizer.name()).isFinite();
      assertThat(parameters[1]).as(optimizer.name()).isZero();
    }
  }

  @Test
  void slotsAreInTheOrderOfTheirNames() {
    assertThat(new Lamb(0.9, 0.999, 1e-6, 0).newSlots(flat(1)).keySet())
        .containsExactly("first", "second");
    Optimizer reversed = withSlots("second", "first");
    assertThat(reversed.newSlots(flat(1)).keySet()).containsExactly("first", "second");
  }

  private static Optimizer withSlots(String... slots) {
    return new Optimizer() {
      @Override
      public String name() {
        return "other";
      }

      @Override
      public SequencedMap<String, Integer> slots(Layout layout) {
        SequencedMap<String, Integer> lengths = new LinkedHashMap<>();
        for (String slot : slots) {
          lengths.put(slot, layout.elements());
        }
        return lengths;
      }

      @Override
      public void apply(Update update) {
        throw new UnsupportedOperationException();
      }
    };
  }

  @Test
  void namesWhatIsWrong() {
    assertThatThrownBy(() -> create("sdg"))
        .hasMessageContaining("'sdg'")
        .hasMessageContaining("sgd, adam");
    assertThatThrownBy(() -> create("sgd:momentum=1")).hasMessageContaining("momentum");
    assertThatThrownBy(() -> create("adam:weightDecay=-1")).hasMessageContaining("weightDecay");
  }
}
