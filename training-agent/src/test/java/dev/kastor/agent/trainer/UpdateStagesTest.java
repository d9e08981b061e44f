package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import dev.kastor.protocol.BatchPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Update stages in a step: when they are called, and what becomes of what they change. */
class UpdateStagesTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final String VELOCITY = "velocity";

  /** A stage in the form in which a method holds it. */
  private record Plugin(UpdateStage stage) implements UpdateStagePlugin {
    @Override
    public String name() {
      return "stage";
    }

    @Override
    public String description() {
      return "Does what a test says.";
    }

    @Override
    public UpdateStage create(Options options, Layout layout) {
      return stage;
    }
  }

  private static Replica replica(UpdateStage... stages) {
    List<Chosen<UpdateStagePlugin>> chosen = new ArrayList<>();
    for (UpdateStage stage : stages) {
      Plugin plugin = new Plugin(stage);
      chosen.add(new Chosen<>(plugin, Options.usual(plugin)));
    }
    Replica replica =
        new Replica(
            new LinearModel(),
            new Sgd(0.9, 0),
            new TrainingSettings(
                16,
                0.02,
                new AdaScale(),
                new Work.Steps(1000),
                5,
                Duration.ofHours(1),
                Duration.ofHours(1),
                Features.updates(chosen)));
    replica.startFresh();
    return replica;
  }

  /** Steps of replicas that sum as a ring does. */
  private static void train(int steps, Replica... replicas) throws DivergedException {
    for (int step = 0; step < steps; step++) {
      List<LocalStep> all = new ArrayList<>();
      for (Replica each : replicas) {
        all.add(each.compute(PLAN, replicas.length, all.size(), _ -> {}));
      }
      sum(Arrays.stream(replicas).map(Replica::gradient).toList());
      sum(Arrays.stream(replicas).map(Replica::batchStatistics).toList());
      for (Replica each : replicas) {
        each.apply(all, PLAN);
      }
    }
  }

  private static void sum(List<float[]> vectors) {
    float[] sum = new float[vectors.getFirst().length];
    for (float[] vector : vectors) {
      IntStream.range(0, sum.length).forEach(i -> sum[i] += vector[i]);
    }
    vectors.forEach(vector -> System.arraycopy(sum, 0, vector, 0, sum.length));
  }

  private static float[] parameters(Replica replica) {
    return replica.state().section(TrainingState.PARAMETERS).floats();
  }

  /** A projection that takes the momentum along. */
  private static final UpdateStage CLAMP =
      update -> {
        float[] velocity = update.slot(VELOCITY);
        for (int i = 0; i < velocity.length; i++) {
          if (Math.abs(update.parameters()[i]) > 0.1f) {
            update.parameters()[i] = Math.signum(update.parameters()[i]) * 0.1f;
            velocity[i] = 0;
          }
        }
      };

  @Test
  void stagesSeeWhatTheOptimizerMadeInTheirOrder() throws Exception {
    List<String> calls = new ArrayList<>();
    Replica replica =
        replica(
            update -> {
              calls.add("first " + update.step());
              assertThat(update.parameters()).isNotEqualTo(new float[LinearModel.FEATURES]);
              Arrays.fill(update.parameters(), 7);
            },
            update -> {
              calls.add("second " + update.step());
              assertThat(update.parameters()).containsOnly(7);
              Arrays.fill(update.parameters(), 0);
            });
    train(2, replica);
    assertThat(calls).containsExactly("first 0", "second 0", "first 1", "second 1");
    assertThat(parameters(replica)).containsOnly(0);
  }

  @Test
  @Tag("never-retried")
  void replicasKeepTheSameBitsAndAJoinerGoesOnWithThem() throws Exception {
    Replica first = replica(CLAMP);
    Replica second = replica(CLAMP);
    train(20, first, second);
    assertThat(StateDigest.of(second.state())).isEqualTo(StateDigest.of(first.state()));
    for (float parameter : parameters(first)) {
      assertThat(Math.abs(parameter)).isLessThanOrEqualTo(0.1f);
    }
    assertThat(first.state().section("optimizer.sgd.velocity").floats()).contains(0);
    Replica joiner = replica(CLAMP);
    joiner.restore(first.state().copy());
    train(20, first, second);
    train(20, joiner, replicaOf(joiner));
    assertThat(StateDigest.of(joiner.state())).isEqualTo(StateDigest.of(first.state()));
    assertThat(first.lostOrRepeated()).isZero();
  }

  private static Replica replicaOf(Replica other) throws Exception {
    Replica same = replica(CLAMP);
    same.restore(other.state().copy());
    return same;
  }

  @Test
  @Tag("never-retried")
  void aStageThatChangesNothingLeavesTheSameBits() throws Exception {
    Replica staged = replica(update -> {});
    Replica plain = replica();
    train(20, staged);
    train(20, plain);
    assertThat(StateDigest.of(staged.state())).isEqualTo(StateDigest.of(plain.state()));
    assertThat(parameters(plain)).isNotEqualTo(new float[LinearModel.FEATURES]);
  }
}
