package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.checkpoint.StateCodec;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Adam;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas whose parameters and optimizer's vectors stay on a device, beside those of hosts. */
class DeviceTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);

  @TempDir private Path folder;

  private static TrainingSettings settings(TrainingMethod method) {
    return new TrainingSettings(
        16,
        0.02,
        new AdaScale(),
        new Work.Steps(1L << 40),
        5,
        Duration.ofMillis(50),
        Duration.ofDays(1),
        method);
  }

  private static Optimizer adam() {
    return new Adam(0.9, 0.999, 1e-8, 0.01);
  }

  /** Replicas that do the same, one of which has a device. */
  private static final class Pair {
    private final LinearModel model = LinearModel.onDevice();
    private final Replica device;
    private final Replica host;

    Pair(Optimizer optimizer, TrainingMethod method) {
      device = SummedReplicas.replica(model, optimizer, settings(method));
      host = SummedReplicas.replica(new LinearModel(), optimizer, settings(method));
    }

    /** A step that each takes alone. */
    void alone(BatchPlan plan) throws Exception {
      for (Replica replica : List.of(device, host)) {
        replica.select(plan, 1, 0, own -> List.of(own));
        replica.apply(List.of(replica.compute(plan, 1, 0, _ -> {})), plan);
      }
    }

    /** A step of both together. */
    void together(BatchPlan plan) throws Exception {
      List<LocalStep> all = computed(plan);
      SummedReplicas.sum(List.of(device.gradient(), host.gradient()));
      SummedReplicas.sum(List.of(device.batchStatistics(), host.batchStatistics()));
      SummedReplicas.sum(List.of(device.probe(), host.probe()));
      for (int slot = 0; slot < host.slots(2).size(); slot++) {
        SummedReplicas.sum(List.of(device.slots(2).get(slot), host.slots(2).get(slot)));
      }
      device.apply(all, plan);
      host.apply(all, plan);
    }

    List<LocalStep> computed(BatchPlan plan) throws Exception {
      List<LocalStep> all = new ArrayList<>();
      for (Replica replica : List.of(device, host)) {
        int rank = all.size();
        replica.select(plan, 2, rank, own -> List.of(own, own));
        all.add(replica.compute(plan, 2, rank, _ -> {}));
      }
      return all;
    }

    void assertSame() {
      assertThat(StateDigest.of(device.state())).isEqualTo(StateDigest.of(host.state()));
      assertThat(device.progress()).isEqualTo(host.progress());
      assertThat(device.gradientStats()).isEqualTo(host.gradientStats());
    }
  }

  @Test
  void aStepCopiesNeitherWeightsNorState() throws Exception {
    Pair pair = new Pair(adam(), TrainingMethod.USUAL);
    pair.alone(PLAN);
    assertThat(pair.model.device().copies()).as("parameters and two slots").isEqualTo(3);
    for (int step = 0; step < 5; step++) {
      pair.alone(PLAN);
      pair.alone(new BatchPlan(4, 2));
      pair.together(PLAN);
      assertThat(pair.device.evaluate()).isEqualTo(pair.host.evaluate());
    }
    assertThat(pair.model.device().copies()).isEqualTo(3);
    pair.assertSame();
    pair.assertSame();
    assertThat(pair.model.device().copies()).as("a look").isEqualTo(6);
    pair.alone(PLAN);
    assertThat(pair.model.device().copies()).as("looks change nothing").isEqualTo(6);
  }

  /** Halves the first parameter and its velocity. */
  private static final class Halving implements UpdateStagePlugin {
    @Override
    public String name() {
      return "halving";
    }

    @Override
    public String description() {
      return "Halves the first parameter.";
    }

    @Override
    public UpdateStage create(Options options, Layout layout) {
      return update -> {
        update.parameters()[0] /= 2;
        update.slot("velocity")[0] /= 2;
      };
    }
  }

  @Test
  void whatTheHostHasToChangeIsChangedThere() throws Exception {
    Halving halving = new Halving();
    List<TrainingMethod> methods =
        List.of(
            Features.updates(List.of(new Chosen<>(halving, Options.usual(halving)))),
            Features.gradients(List.of((gradient, _) -> gradient[0] = 0)),
            Features.sync(SyncPolicies.BUILT_IN.choose("local:steps=3")));
    for (TrainingMethod method : methods) {
      Pair pair = new Pair(new Sgd(0.9, 0), method);
      TrainingState fresh = pair.host.state().copy();
      for (int step = 0; step < 4; step++) {
        pair.alone(PLAN);
        pair.together(PLAN);
        assertThat(pair.computed(PLAN)).as("a step or round that is not applied").hasSize(2);
        if (step % 2 == 0) {
          pair.assertSame();
          // The device has what it computed the last passes with.
          pair.device.restore(fresh);
          pair.host.restore(fresh);
        }
      }
      pair.assertSame();
    }
  }

  /** The device has come further than the anchor to which the host goes back. */
  @Test
  void aRoundThatComesToNothingIsTakenAgainFromItsAnchor() throws Exception {
    AtomicBoolean bad = new AtomicBoolean(true);
    GradientStage spoils =
        (gradient, step) -> gradient[0] = bad.get() && step.step() == 2 ? Float.NaN : gradient[0];
    TrainingMethod method =
        Features.method(
            List.of(spoils),
            Optional.empty(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(SyncPolicies.BUILT_IN.choose("local:steps=4")));
    Pair pair = new Pair(new Sgd(0.9, 0), method);
    assertThat(pair.computed(PLAN)).noneMatch(LocalStep::finite);
    bad.set(false);
    pair.together(PLAN);
    pair.assertSame();
    Pair undisturbed = new Pair(new Sgd(0.9, 0), method);
    undisturbed.together(PLAN);
    assertThat(StateDigest.of(pair.device.state()))
        .isEqualTo(StateDigest.of(undisturbed.device.state()));
  }

  /** Whatever happens in whatever order, neither the host's nor the device's newest are lost. */
  @Tag("slow")
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  @Tag("never-retried")
  void noOrderOfStepsReadsAndRestoresLosesValues(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Pair pair = new Pair(random.nextBoolean() ? adam() : new Sgd(0.9, 0.1), TrainingMethod.USUAL);
    TrainingState saved = pair.host.state().copy();
    for (int i = 0; i < 300; i++) {
      BatchPlan plan = new BatchPlan(random.nextInt(1, 9), random.nextInt(3));
      switch (random.nextInt(8)) {
        case 0, 1 -> pair.alone(plan);
        case 2 -> pair.together(plan);
        case 3 -> pair.assertSame();
        case 4 -> saved = pair.device.state().copy();
        case 5 -> {
          pair.device.restore(saved);
          pair.host.restore(saved);
        }
        case 6 -> {
          // Both are joiners that the device streams its state to, as one that came back does.
          try (Arena arena = Arena.ofConfined()) {
            TrainingState streamed =
                StateCodec.decode(StateCodec.encode(pair.device.state(), arena));
            pair.host.restore(streamed);
            pair.device.restore(streamed);
          }
        }
        // A step whose exchange broke: it changes nothing.
        case 7 -> assertThat(pair.computed(plan)).hasSize(2);
        default -> throw new AssertionError();
      }
    }
    pair.assertSame();
  }

  /** Joiners, deaths and a stop, where every second replica has a device. */
  @Tag("slow")
  @Test
  @Tag("never-retried")
  void replicasOfBothKindsKeepTheSameBits() throws Exception {
    AtomicInteger made = new AtomicInteger();
    try (TestJob job =
        new TestJob(
            folder,
            () -> made.getAndIncrement() % 2 == 0 ? LinearModel.onDevice() : new LinearModel())) {
      job.membersComeGoAndDie(settings(TrainingMethod.USUAL), PLAN);
    }
  }

  /** All are gone, and what they were saved as is where others go on. */
  @Tag("slow")
  @Test
  void aCheckpointHasWhatTheDeviceHad() throws Exception {
    float[] stopped;
    try (TestJob job = new TestJob(folder, LinearModel::onDevice)) {
      job.start(1, settings(TrainingMethod.USUAL), true);
      job.want(PLAN);
      job.awaitSteps(10);
      job.operator().stop();
      job.assertSameEnd(Outcome.Kind.STOPPED);
      stopped = job.replicas().getFirst().model().readParameters().clone();
    }
    TrainingSettings done =
        new TrainingSettings(
            16,
            0.02,
            new AdaScale(),
            new Work.Steps(1),
            5,
            Duration.ofMillis(50),
            Duration.ofDays(1),
            TrainingMethod.USUAL);
    try (TestJob job = new TestJob(folder, LinearModel::new)) {
      job.start(1, done, true);
      job.want(PLAN);
      job.assertSameEnd(Outcome.Kind.COMPLETED);
      assertThat(job.replicas().getFirst().model().readParameters()).isEqualTo(stopped);
    }
  }
}
