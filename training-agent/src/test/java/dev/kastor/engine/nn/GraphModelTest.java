package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import java.util.List;
import org.junit.jupiter.api.Test;

class GraphModelTest {
  private static final Batch XOR =
      new Batch(4, new float[] {0, 0, 0, 1, 1, 0, 1, 1}, new int[] {0, 1, 1, 0});

  private static double descend(GraphModel model, Batch batch, int steps, float rate) {
    float[] gradient = new float[model.parameters().length];
    float[] statistics = new float[model.statistics().length];
    double loss = Double.NaN;
    for (int step = 0; step < steps; step++) {
      loss = model.pass(batch, gradient, statistics);
      for (int i = 0; i < gradient.length; i++) {
        model.parameters()[i] -= rate * gradient[i];
      }
      model.applyStatistics(statistics);
    }
    return loss;
  }

  @Test
  void learnsExclusiveOr() {
    try (GraphModel model = new GraphModel(new Mlp(2, List.of(8), 2), reference(), 7)) {
      assertThat(descend(model, XOR, 300, 0.5f)).isLessThan(0.05);
      Scores scores = model.score(XOR);
      assertThat(scores.accuracy()).isEqualTo(1);
      assertThat(scores.meanLoss()).isLessThan(0.05);
    }
  }

  @Test
  void namesWhatDoesNotFit() {
    try (GraphModel model = new GraphModel(new Mlp(2, List.of(), 2), reference(), 7)) {
      float[] gradient = new float[model.parameters().length];
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> model.pass(new Batch(1, new float[3], new int[1]), gradient, new float[0]))
          .withMessage("features has 3 elements, but the model needs 2.");
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> model.pass(new Batch(1, new float[2], new int[] {2}), gradient, new float[0]))
          .withMessage("A target is 2, but the classes are 0 to 1.");
    }
  }

  private static Backend reference() {
    return new ReferenceBackend();
  }
}
