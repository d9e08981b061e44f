package dev.kastor.engine.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.tensor.Layout;
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
    float[] target = {1, -2, 3};
    float[] curvature = {1, 5, 0.5f};
    float[] parameters = new float[3];
    SequencedMap<String, float[]> slots = optimizer.newSlots(flat(3));
    float[] gradient = new float[3];
    for (long step = 0; step < 3000; step++) {
      for (int i = 0; i < 3; i++) {
        gradient[i] = curvature[i] * (parameters[i] - target[i]);
      }
      optimizer.apply(new Update(flat(3), parameters, gradient, slots, 0.01, step));
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
    float[] parameters = new float[1001];
    float[] gradient = new float[1001];
    SequencedMap<String, float[]> slots = optimizer.newSlots(flat(1001));
    for (long step = 0; step < 50; step++) {
      for (int i = 0; i < gradient.length; i++) {
        gradient[i] = (float) random.nextGaussian();
      }
      optimizer.apply(new Update(flat(1001), parameters, gradient, slots, 0.01, step));
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

  @Test
  void namesWhatIsWrong() {
    assertThatThrownBy(() -> create("sdg"))
        .hasMessageContaining("'sdg'")
        .hasMessageContaining("sgd, adam");
    assertThatThrownBy(() -> create("sgd:momentum=1")).hasMessageContaining("momentum");
    assertThatThrownBy(() -> create("adam:weightDecay=-1")).hasMessageContaining("weightDecay");
  }
}
