package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.optim.None;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.train.ElasticSampler;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws of rounds of local steps, by replicas whose vectors a loop sums. */
class RoundsTest {
  private static final BatchPlan PLAN = new BatchPlan(4, 1);
  private static final int SHARE = 8;
  private static final double RATE = 0.01;

  private static Chosen<SyncPolicyPlugin> local(int steps) {
    return SyncPolicies.BUILT_IN.choose("local:steps=" + steps);
  }

  private static TrainingSettings settings(double rate, long steps, TrainingMethod method) {
    return new TrainingSettings(
        SHARE,
        rate,
        new None(),
        new Work.Steps(steps),
        5,
        Duration.ofDays(1),
        Duration.ofDays(1),
        method);
  }

  private static TrainingSettings settings(TrainingMethod method) {
    return settings(RATE, 1L << 40, method);
  }

  private static float[] parameters(Replica replica) {
    return replica.state().section(TrainingState.PARAMETERS).floats();
  }

  private static void assertClose(float[] actual, float[] expected) {
    assertThat(actual).containsExactly(expected, within(2e-6f));
  }

  /** Two rounds, by plain loops over replicas, steps and passes. */
  @Test
  void aRoundIsTheMeanOfWhatReplicasTrainByThemselves() throws Exception {
    int size = 3;
    int steps = 4;
    SummedReplicas job =
        SummedReplicas.of(PLAN, size, new Sgd(0.9, 0), settings(Features.sync(local(steps))));
    LinearModel[] models = {new LinearModel(), new LinearModel(), new LinearModel()};
    float[][] velocities = new float[size][LinearModel.FEATURES];
    ElasticSampler sampler = new ElasticSampler(LinearModel.EXAMPLES, 5);
    float[] gradient = new float[LinearModel.FEATURES];
    float[] statistics = new float[3];
    for (int round = 0; round < 2; round++) {
      double loss = 0;
      for (int step = 0; step < steps; step++) {
        for (int rank = 0; rank < size; rank++) {
          long cursor = (long) (round * steps + step) * size * SHARE;
          float[] mean = new float[LinearModel.FEATURES];
          float[] batch = new float[3];
          for (int pass = 0; pass < 2; pass++) {
            ElasticSampler.Take take = sampler.take(cursor, PLAN, size, rank, pass);
            loss += models[rank].pass(take.examples(), gradient, statistics);
            Vectors.add(gradient, mean, 0, mean.length);
            Vectors.add(statistics, batch, 0, batch.length);
          }
          Vectors.scale(mean, 0.5f);
          Vectors.scale(batch, 0.5f);
          for (int i = 0; i < mean.length; i++) {
            velocities[rank][i] = 0.9f * velocities[rank][i] + mean[i];
            models[rank].parameters()[i] -= (float) RATE * velocities[rank][i];
          }
          models[rank].applyStatistics(batch);
        }
      }
      List<LinearModel> all = List.of(models);
      List<float[]> shared = new ArrayList<>(List.of(velocities));
      for (List<float[]> vectors :
          List.of(
              all.stream().map(LinearModel::parameters).toList(),
              all.stream().map(LinearModel::statistics).toList(),
              shared)) {
        SummedReplicas.sum(vectors);
        vectors.forEach(vector -> Vectors.scale(vector, 1f / size));
      }
      assertThat(job.step()).isCloseTo(loss / (steps * size * 2), within(1e-5));
      assertClose(parameters(job.first()), models[0].parameters());
      assertClose(job.models().getFirst().statistics(), models[0].statistics());
      assertClose(job.first().state().section("optimizer.sgd.velocity").floats(), velocities[0]);
      assertThat(job.first().step()).isEqualTo((round + 1L) * steps);
      assertThat(job.first().progress().examples()).isEqualTo((round + 1L) * steps * size * SHARE);
    }
  }

  /** Momentum and its mean are linear in the gradients. */
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.9})
  void aRoundOfOneStepIsASynchronousStepUpToRounding(double momentum) throws Exception {
    SummedReplicas rounds =
        SummedReplicas.of(PLAN, 3, new Sgd(momentum, 0.01), settings(Features.sync(local(1))));
    SummedReplicas steps =
        SummedReplicas.of(PLAN, 3, new Sgd(momentum, 0.01), settings(TrainingMethod.USUAL));
    rounds.steps(20);
    steps.steps(20);
    assertClose(parameters(rounds.first()), parameters(steps.first()));
    double progress = steps.first().progress().scaleInvariantSteps();
    assertThat(rounds.first().progress().scaleInvariantSteps())
        .isCloseTo(progress, within(1e-6 * progress));
  }

  @Test
  void oneReplicaAloneTrainsAsWithoutRounds() throws Exception {
    SummedReplicas alone =
        SummedReplicas.of(
            PLAN, 1, new Adam(0.9, 0.999, 1e-8, 0), settings(Features.sync(local(8))));
    SummedReplicas plain =
        SummedReplicas.of(PLAN, 1, new Adam(0.9, 0.999, 1e-8, 0), settings(TrainingMethod.USUAL));
    alone.steps(20);
    plain.steps(20);
    assertThat(StateDigest.of(alone.first().state()))
        .isEqualTo(StateDigest.of(plain.first().state()));
  }

  @Test
  void whatIsNotAppliedChangesNothing() throws Exception {
    TrainingSettings settings = settings(Features.sync(local(5)));
    SummedReplicas disturbed = SummedReplicas.of(PLAN, 2, new Adam(0.9, 0.999, 1e-8, 0), settings);
    SummedReplicas undisturbed =
        SummedReplicas.of(PLAN, 2, new Adam(0.9, 0.999, 1e-8, 0), settings);
    for (int round = 0; round < 6; round++) {
      long digest = StateDigest.of(disturbed.first().state());
      disturbed.compute();
      assertThat(StateDigest.of(disturbed.first().state())).isEqualTo(digest);
      disturbed.exchange();
      assertThat(StateDigest.of(disturbed.first().state())).isEqualTo(digest);
      disturbed.step();
      undisturbed.step();
      assertThat(StateDigest.of(disturbed.first().state()))
          .isEqualTo(StateDigest.of(undisturbed.first().state()));
    }
  }

  @Test
  void aFailureWithinARoundLeavesItsAnchor() throws Exception {
    SummedReplicas job =
        SummedReplicas.of(PLAN, 2, new Sgd(0.9, 0), settings(Features.sync(local(5))));
    job.steps(3);
    Replica replica = job.first();
    long digest = StateDigest.of(replica.state());
    assertThatThrownBy(() ->
            replica.compute(
                PLAN,
                2,
                0,
                new Replica.Listener() {
                  @Override
                  public void ready(int from) {}

                  @Override
                  public void stepped(long steps) {
                    if (steps == replica.step() + 3) {
                      throw new IllegalStateException("in the third step");
                    }
                  }
                }))
        .hasMessage("in the third step");
    assertThat(StateDigest.of(replica.state())).isEqualTo(digest);
  }

  @Test
  void theLastRoundHasTheStepsThatAreLeft() throws Exception {
    // Batches of twice the initial one, of which nothing is known, count as initial ones.
    SummedReplicas job =
        SummedReplicas.of(PLAN, 2, new Sgd(0, 0), settings(RATE, 19, Features.sync(local(8))));
    List<Integer> steps = new ArrayList<>();
    while (!job.first().done()) {
      steps.add(job.first().steps(PLAN, 2));
      job.step();
    }
    assertThat(steps).containsExactly(8, 8, 3);
    assertThat(job.first().step()).isEqualTo(19);
  }

  @Test
  void eachStepOfARoundIsHeardOf() throws Exception {
    SummedReplicas job =
        SummedReplicas.of(PLAN, 2, new Sgd(0, 0), settings(Features.sync(local(3))));
    job.steps(2);
    List<Long> heard = new ArrayList<>();
    job.first()
        .compute(
            PLAN,
            2,
            0,
            new Replica.Listener() {
              @Override
              public void ready(int from) {
                heard.add(-1L - from);
              }

              @Override
              public void stepped(long steps) {
                heard.add(steps);
              }
            });
    assertThat(heard).containsExactly(7L, 8L, 9L, -1L);
  }

  /** Of so small a model the probe holds all coordinates, and the parameters do not move. */
  @Tag("slow")
  @Test
  void theNoiseIsThatOfTheFirstStepOfEachRound() throws Exception {
    SummedReplicas rounds =
        SummedReplicas.of(
            PLAN, 3, new Sgd(0, 0), settings(1e-30, 1L << 40, Features.sync(local(4))));
    SummedReplicas steps =
        SummedReplicas.of(PLAN, 3, new Sgd(0, 0), settings(1e-30, 1L << 40, TrainingMethod.USUAL));
    rounds.steps(200);
    steps.steps(800);
    GradientStats told = rounds.first().gradientStats().orElseThrow();
    GradientStats truth = steps.first().gradientStats().orElseThrow();
    assertThat(told.squaredNorm())
        .isCloseTo(truth.squaredNorm(), within(0.1 * truth.squaredNorm()));
    assertThat(told.variance()).isCloseTo(truth.variance(), within(0.1 * truth.variance()));
  }

  @Test
  void selectorsTunersAndStagesWorkInRounds() throws Exception {
    GradientStage halved =
        (gradient, step) -> {
          assertThat(step.globalBatchSize()).as("of the replica").isEqualTo(SHARE);
          Vectors.scale(gradient, 0.5f);
        };
    TrainingMethod method =
        Features.method(
            List.of(halved),
            Optional.empty(),
            List.of(),
            Optional.of(ExampleSelectors.BUILT_IN.choose("random:keep=0.5")),
            Optional.of(Tuners.BUILT_IN.choose("plateau:patience=20:threshold=0.5")),
            Optional.of(local(4)));
    SummedReplicas job = SummedReplicas.of(PLAN, 2, new Sgd(0.9, 0), settings(method));
    job.steps(60);
    assertThat(job.first().progress().examples()).isEqualTo(60L * 4 * 2 * SHARE);
    assertThat(job.first().learningRate().orElseThrow()).as("tuned").isLessThan(RATE);
    assertThat(job.models().getFirst().evaluate().value()).isLessThan(0.5);
  }

  @Test
  void theStateOfThePolicyIsSharedLikeAllOfIt() throws Exception {
    DoublingPeriod policy = new DoublingPeriod();
    TrainingSettings settings = settings(Features.sync(policy.chosen()));
    SummedReplicas job = SummedReplicas.of(PLAN, 2, new Sgd(0.9, 0), settings);
    job.steps(3);
    assertThat(policy.told())
        .extracting(SyncPolicy.AppliedRound::steps)
        .containsExactly(1, 1, 2, 2, 4, 4);
    assertThat(policy.told().getLast())
        .isEqualTo(
            new SyncPolicy.AppliedRound(
                job.first().progress(), 4, 4 * 2 * SHARE, policy.told().getLast().loss(), RATE));
    assertThat(job.first().state().forms())
        .extracting(Section.Form::name)
        .endsWith("noise", "sync.doubling.rounds");
    Replica joiner = SummedReplicas.replica(new LinearModel(), new Sgd(0.9, 0), settings);
    long before = StateDigest.of(job.first().state());
    try (Arena arena = Arena.ofConfined()) {
      joiner.restore(StateCodec.decode(StateCodec.encode(job.first().state(), arena)));
    }
    assertThat(StateDigest.of(joiner.state())).isEqualTo(before);
    assertThat(joiner.steps(PLAN, 2)).isEqualTo(8);
    // A step of one replica alone is a round, too.
    joiner.apply(List.of(joiner.compute(PLAN, 1, 0, _ -> {})), PLAN);
    assertThat(policy.told().getLast().steps()).isEqualTo(1);
    assertThat(joiner.state().section("sync.doubling.rounds").longs()).containsExactly(4);
    Replica other =
        SummedReplicas.replica(
            new LinearModel(), new Sgd(0.9, 0), settings(Features.sync(local(8))));
    assertThatThrownBy(() -> other.restore(joiner.state()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("sync.doubling.rounds (1)");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 1001})
  void aPeriodThatIsNoneIsRefused(int period) {
    SyncPolicyPlugin plugin =
        new SyncPolicyPlugin() {
          @Override
          public String name() {
            return "wrong";
          }

          @Override
          public String description() {
            return "Breaks the contract.";
          }

          @Override
          public SyncPolicy create(Options options) {
            return new SyncPolicy() {
              @Override
              public List<Section> state() {
                return List.of();
              }

              @Override
              public int period() {
                return period;
              }

              @Override
              public void applied(AppliedRound round) {}
            };
          }
        };
    Chosen<SyncPolicyPlugin> chosen = new Chosen<>(plugin, Options.usual(plugin));
    SummedReplicas job = SummedReplicas.of(PLAN, 2, new Sgd(0, 0), settings(Features.sync(chosen)));
    assertThatThrownBy(job::step)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the sync policy wrong gives a round of " + period + " steps");
  }

  @Test
  void aRoundThatDoesNotStayFiniteIsNotApplied() throws Exception {
    SummedReplicas job =
        SummedReplicas.of(PLAN, 2, new Sgd(0.9, 0), settings(Features.sync(local(4))));
    job.steps(2);
    long digest = StateDigest.of(job.first().state());
    for (float bad : new float[] {Float.NaN, Float.NEGATIVE_INFINITY}) {
      job.models().getFirst().spoil(bad, 1);
      List<LocalStep> all = job.compute();
      assertThat(all).extracting(LocalStep::finite).containsExactly(false, true);
      assertThat(job.first().gradient()).containsOnly(Float.NaN);
      job.exchange();
      for (Replica replica : job.replicas()) {
        assertThatThrownBy(() -> replica.apply(all, PLAN))
            .isInstanceOf(DivergedException.class)
            .hasMessageContaining("training diverged at step 8");
        assertThat(StateDigest.of(replica.state())).isEqualTo(digest);
      }
    }
    job.step();
    assertThat(job.first().step()).isEqualTo(12);
  }

  @Test
  void aStageThatGivesNoNumbersIsNamed() throws Exception {
    GradientStage spoils =
        (gradient, step) -> Arrays.fill(gradient, step.step() == 2 ? Float.NaN : 1);
    TrainingMethod method =
        Features.method(
            List.of(spoils),
            Optional.empty(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(local(4)));
    SummedReplicas job = SummedReplicas.of(PLAN, 2, new Sgd(0.9, 0), settings(method));
    assertThatThrownBy(job::step)
        .isInstanceOf(DivergedException.class)
        .hasMessageContaining("the gradient of step 2 is not finite after the gradient stage");
    assertThat(job.first().step()).isZero();
  }
}
