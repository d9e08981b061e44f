package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.optim.SquareRoot;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.Tuner;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Learning rates of steps under a tuner: what it is told, and what becomes of its factor. */
class LearningRateTest {
  /** Four times the initial batch. */
  private static final BatchPlan PLAN = new BatchPlan(16, 3);

  private static final double RATE = 0.01;

  private final LinearModel model = new LinearModel();

  /** A tuner that gives one factor after another and keeps what it was told. */
  private static final class Told implements Tuner, TunerPlugin {
    private final double[] factors;
    private final List<AppliedStep> steps = new ArrayList<>();

    Told(double... factors) {
      this.factors = factors;
    }

    @Override
    public String name() {
      return "told";
    }

    @Override
    public String description() {
      return "Does what a test says.";
    }

    @Override
    public Tuner create(Options options) {
      return this;
    }

    @Override
    public List<Section> state() {
      return List.of();
    }

    @Override
    public double factor() {
      return factors[Math.min(steps.size(), factors.length - 1)];
    }

    @Override
    public void applied(AppliedStep step) {
      steps.add(step);
    }

    Optional<Chosen<TunerPlugin>> chosen() {
      return Optional.of(new Chosen<>(this, Options.usual(this)));
    }
  }

  private static Replica replica(LinearModel model, Optional<Chosen<TunerPlugin>> tuner) {
    Replica replica =
        new Replica(
            model,
            new Sgd(0.9, 0),
            new TrainingSettings(
                16,
                RATE,
                new SquareRoot(),
                new Work.Steps(200),
                5,
                Duration.ofHours(1),
                Duration.ofHours(1),
                Features.tune(tuner)));
    replica.startFresh();
    return replica;
  }

  private static Replica replica(String tuner) {
    return replica(new LinearModel(), Optional.of(Tuners.BUILT_IN.choose(tuner)));
  }

  /** The mean loss of the last of some steps. */
  private static double train(Replica replica, int steps) throws DivergedException {
    double loss = Double.NaN;
    for (int step = 0; step < steps; step++) {
      loss = replica.apply(List.of(replica.compute(PLAN, 1, 0, _ -> {})), PLAN);
    }
    return loss;
  }

  @Test
  void theRateIsTheBaseTimesTheFactorsOfRuleAndTuner() throws Exception {
    Told tuner = new Told(1, 0.5, 3);
    Replica replica = replica(model, tuner.chosen());
    for (double factor : new double[] {1, 0.5, 3, 3}) {
      train(replica, 1);
      assertThat(replica.learningRate()).hasValue(RATE * 2 * factor);
    }
  }

  @Test
  void theTunerIsToldOfEachStepAtItsEnd() throws Exception {
    Told tuner = new Told(0.25);
    Replica replica = replica(model, tuner.chosen());
    for (int step = 0; step < 5; step++) {
      double loss = train(replica, 1);
      assertThat(tuner.steps.getLast())
          .isEqualTo(new Tuner.AppliedStep(replica.progress(), 64, 4, loss, RATE * 2 * 0.25));
      assertThat(tuner.steps).hasSize(step + 1);
    }
    assertThat(replica.progress().step()).isEqualTo(5);
  }

  /** A step that is taken again, as its ring broke or its gradient is not finite. */
  @Test
  void whatIsNotAppliedIsNotTold() throws Exception {
    Replica disturbed = replica(model, Optional.of(Tuners.BUILT_IN.choose("plateau:patience=3")));
    Replica undisturbed = replica("plateau:patience=3");
    for (int step = 0; step < 20; step++) {
      disturbed.compute(PLAN, 1, 0, _ -> {});
      model.spoil(Float.NaN, 1);
      LocalStep local = disturbed.compute(PLAN, 1, 0, _ -> {});
      assertThatThrownBy(() -> disturbed.apply(List.of(local), PLAN))
          .isInstanceOf(DivergedException.class);
      train(disturbed, 1);
      train(undisturbed, 1);
      assertThat(StateDigest.of(disturbed.state())).isEqualTo(StateDigest.of(undisturbed.state()));
    }
  }

  @Test
  @Tag("never-retried")
  void aJoinerGoesOnWithTheSameBits() throws Exception {
    String tuner = "plateau:patience=3:threshold=0.5";
    Replica first = replica(tuner);
    train(first, 30);
    assertThat(first.state().section("tuner.plateau.factor").doubles()[0]).isLessThan(1);
    assertThat(first.state().forms())
        .extracting(Section.Form::name)
        .endsWith(
            "noise",
            "tuner.plateau.factor",
            "tuner.plateau.lowest",
            "tuner.plateau.begin",
            "tuner.plateau.examples",
            "tuner.plateau.losses");
    Replica joiner = replica(tuner);
    try (Arena arena = Arena.ofConfined()) {
      joiner.restore(StateCodec.decode(StateCodec.encode(first.state(), arena)));
    }
    TrainingState before = first.state().copy();
    train(first, 30);
    train(joiner, 30);
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
    assertThat(joiner.learningRate()).isEqualTo(first.learningRate());
    joiner.restore(before);
    train(joiner, 30);
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
  }

  @Test
  @Tag("never-retried")
  void aTunerThatGivesOneLeavesTheSameBits() throws Exception {
    Replica tuned = replica("phases:decay=none");
    Replica plain = replica(new LinearModel(), Optional.empty());
    train(tuned, 30);
    train(plain, 30);
    assertThat(tuned.state().section(TrainingState.PARAMETERS).floats())
        .isEqualTo(plain.state().section(TrainingState.PARAMETERS).floats());
    assertThat(tuned.progress()).isEqualTo(plain.progress());
  }

  @Test
  void aStateOfAnotherTunerIsRefused() {
    Replica phases = replica("phases");
    assertThatThrownBy(() -> phases.restore(replica("plateau").state()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tuner.plateau.factor (1)")
        .hasMessageContaining("tuner.phases.factor (1)");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void aFactorThatIsNoneIsRefusedBeforeItIsUsed(double factor) throws Exception {
    Replica replica = replica(model, new Told(1, factor).chosen());
    train(replica, 1);
    float[] parameters = model.parameters().clone();
    assertThatThrownBy(() -> train(replica, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the tuner told gives the factor " + factor);
    assertThat(replica.step()).isEqualTo(1);
    assertThat(model.parameters()).isEqualTo(parameters);
  }
}
