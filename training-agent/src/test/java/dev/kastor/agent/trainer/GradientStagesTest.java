package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.protocol.BatchPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Gradient stages in a step: when they are called, and what sees the gradient before them. */
class GradientStagesTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 1);
  private static final double NEARLY_NOTHING = 1e-30;

  private final LinearModel model = new LinearModel();

  private Replica replica(double learningRate, List<GradientStage> stages) {
    Replica replica =
        new Replica(
            model,
            new Sgd(0.9, 0),
            new TrainingSettings(
                16,
                learningRate,
                new AdaScale(),
                new Work.Steps(100),
                5,
                Duration.ofHours(1),
                Duration.ofHours(1),
                Features.gradients(stages)));
    replica.startFresh();
    return replica;
  }

  private static void train(Replica replica, int steps) throws DivergedException {
    train(replica, steps, PLAN);
  }

  private static void train(Replica replica, int steps, BatchPlan plan) throws DivergedException {
    for (int i = 0; i < steps; i++) {
      replica.apply(List.of(replica.compute(plan, 1, 0, _ -> {})), plan);
    }
  }

  @Test
  void theOptimizerSeesWhatTheStagesMadeInTheirOrder() throws Exception {
    List<String> calls = new ArrayList<>();
    Replica replica =
        replica(
            0.02,
            List.of(
                (gradient, step) ->
                    calls.add("first " + step.step() + " " + step.globalBatchSize()),
                (gradient, step) -> {
                  calls.add("second");
                  assertThat(step.loss()).isPositive();
                  Arrays.fill(gradient, 0);
                }));
    train(replica, 2);
    assertThat(calls).containsExactly("first 0 16", "second", "first 1 16", "second");
    assertThat(model.parameters()).containsOnly(0);
  }

  /** With parameters that do not move, the same examples have the same gradients. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void theNoiseScaleIsThatOfTheGradientBeforeAllStages(int accumulation) throws Exception {
    BatchPlan plan = new BatchPlan(8, accumulation);
    Replica cleared = replica(0.02, List.of((gradient, step) -> Arrays.fill(gradient, 0)));
    train(cleared, 20, plan);
    assertThat(model.parameters()).containsOnly(0);
    Replica still = replica(NEARLY_NOTHING, List.of());
    train(still, 20, plan);
    assertThat(cleared.gradientStats()).isPresent().isEqualTo(still.gradientStats());
    assertThat(cleared.progress().scaleInvariantSteps())
        .isEqualTo(still.progress().scaleInvariantSteps());
  }

  @Test
  void aStageThatMakesNoNumbersChangesNoParameter() throws Exception {
    Replica replica = replica(0.02, List.of((gradient, step) -> gradient[0] = Float.NaN));
    assertThatThrownBy(() -> train(replica, 1))
        .isInstanceOf(DivergedException.class)
        .hasMessageContaining("not finite after the gradient stage");
    assertThat(model.parameters()).containsOnly(0);
    assertThat(replica.step()).isZero();
    assertThat(replica.gradientStats()).isEmpty();
  }

  @Test
  @Tag("never-retried")
  void aStageThatChangesNothingLeavesTheSameBits() throws Exception {
    train(replica(0.02, List.of((gradient, step) -> {})), 20);
    float[] staged = model.parameters().clone();
    LinearModel other = new LinearModel();
    Replica plain =
        new Replica(
            other,
            new Sgd(0.9, 0),
            new TrainingSettings(
                16,
                0.02,
                new AdaScale(),
                new Work.Steps(100),
                5,
                Duration.ofHours(1),
                Duration.ofHours(1)));
    plain.startFresh();
    train(plain, 20);
    assertThat(staged).isEqualTo(other.parameters()).isNotEqualTo(new float[staged.length]);
  }
}
