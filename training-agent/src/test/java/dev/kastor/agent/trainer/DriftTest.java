package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.collective.Collectives;
import dev.kastor.engine.optim.SquareRoot;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.LearningRateRule;
import dev.kastor.engine.train.Update;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.engine.update.UpdateStages;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Options;
import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Outcome;
import dev.kastor.training.Drift;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Replicas are equal, or the job says what differs. */
@Tag("slow")
@Tag("never-retried")
class DriftTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);

  /** Longer than it takes until the next checkpoint is compared. */
  private static final int STEPS = 40;

  @TempDir Path folder;

  /** Part of the state that one replica changes by itself. */
  enum What {
    WEIGHT("parameters"),
    SLOT("optimizer.sgd.velocity"),
    RATE("learning rate");

    private final String named;

    What(String named) {
      this.named = named;
    }
  }

  /**
   * Replica that has changes of its own in some of its steps.
   *
   * @param left steps in which it still has them
   */
  private record Odd(What what, AtomicInteger left)
      implements LearningRateRule, UpdateStagePlugin, UpdateStage {
    @Override
    public String name() {
      return "odd";
    }

    @Override
    public String description() {
      return "Does on one replica what a test says.";
    }

    private boolean now(What kind) {
      return what == kind && left.getAndUpdate(steps -> Math.max(0, steps - 1)) > 0;
    }

    @Override
    public double factor(double scale, Optional<GradientStats> gradient) {
      return now(What.RATE) ? 1.5 : 1;
    }

    @Override
    public UpdateStage create(Options options, Layout layout) {
      return this;
    }

    @Override
    public void change(Update update) {
      if (now(What.WEIGHT)) {
        update.parameters()[3] += 0.01f;
      }
      if (now(What.SLOT)) {
        update.slot("velocity")[3] += 0.01f;
      }
    }

    /** Settings of the replica; those of others are the same with another one. */
    TrainingSettings settings(Drift drift) {
      TrainingMethod method =
          Features.updates(List.of(new Chosen<UpdateStagePlugin>(this, Options.usual(this))));
      return DriftTest.settings(this, Features.drift(method, drift));
    }
  }

  private static TrainingSettings settings(LearningRateRule rule, TrainingMethod method) {
    return new TrainingSettings(
        16,
        0.002,
        rule,
        new Work.Steps(1L << 40),
        5,
        Duration.ofMillis(20),
        Duration.ofHours(1),
        method);
  }

  /** Two replicas train, and then the second has changes of its own. */
  private AtomicInteger train(TestJob job, What what, Drift drift) throws InterruptedException {
    AtomicInteger left = new AtomicInteger();
    job.start(1, new Odd(what, new AtomicInteger()).settings(drift), true);
    job.start(1, new Odd(what, left).settings(drift), true);
    job.want(PLAN);
    job.awaitSteps(STEPS);
    return left;
  }

  private static void assertEnds(TestJob job, String message) throws InterruptedException {
    for (TestReplica replica : job.replicas()) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
      assertThat(outcome.message()).contains("Replicas differ at step").contains(message);
    }
  }

  @ParameterizedTest
  @EnumSource
  void driftIsRepairedWhileTheJobTrains(What what) throws Exception {
    try (TestJob job = new TestJob(folder)) {
      train(job, what, Drift.REPAIR).set(1);
      job.awaitSteps(STEPS);
      List<float[]> parameters =
          job.replicas().stream().map(each -> each.model().parameters()).toList();
      job.operator().await("the same", () -> Arrays.equals(parameters.get(0), parameters.get(1)));
      job.operator().stop();
      job.assertSameEnd(Outcome.Kind.STOPPED);
      assertThat(job.operator().reports().stream().flatMap(report -> report.switches().stream()))
          .as("the ring holds")
          .hasSize(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void driftThatIsNotRepairedEndsTheJobWithItsName(What what) throws Exception {
    try (TestJob job = new TestJob(folder)) {
      train(job, what, Drift.FAIL).set(1);
      assertEnds(job, what == What.RATE ? "parameters" : what.named);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatDiffersAgainAndAgainEndsTheJobWithItsName(What what) throws Exception {
    try (TestJob job = new TestJob(folder)) {
      train(job, what, Drift.REPAIR).set(Integer.MAX_VALUE);
      assertEnds(job, what.named);
    }
  }

  @ParameterizedTest
  @EnumSource
  void driftIsFoundWhenMembersChange(What what) throws Exception {
    try (TestJob job = new TestJob(folder)) {
      AtomicInteger left = train(job, what, Drift.FAIL);
      left.set(1);
      job.want(new BatchPlan(4, 1));
      assertEnds(job, what == What.RATE ? "parameters" : what.named);
    }
  }

  @ParameterizedTest
  @MethodSource("features")
  void nothingIsFoundWhileMembersComeGoAndDie(TrainingMethod method) throws Exception {
    assertThat(method.drift()).isEqualTo(Drift.FAIL);
    // Of the table, as some features need a matrix.
    try (TestJob job = new TestJob(folder, () -> LinearModel.ofTable(false))) {
      job.membersComeGoAndDie(settings(new SquareRoot(), method), PLAN);
    }
  }

  private static <P extends Plugin> Stream<Named<TrainingMethod>> each(
      Registry<P> registry, Function<Chosen<P>, TrainingMethod> method) {
    return registry.names().stream()
        .map(name -> Named.of(name, method.apply(registry.choose(name))));
  }

  /** Methods with one feature each: all that Kastor has and that replicas share. */
  private static Stream<Named<TrainingMethod>> features() {
    return Stream.of(
            each(GradientCodecs.BUILT_IN, codec -> Features.codec(Optional.of(codec))),
            each(UpdateStages.BUILT_IN, stage -> Features.updates(List.of(stage))),
            each(ExampleSelectors.BUILT_IN, select -> Features.select(Optional.of(select))),
            each(Tuners.BUILT_IN, tuner -> Features.tune(Optional.of(tuner))),
            each(SyncPolicies.BUILT_IN, Features::sync),
            each(
                Collectives.BUILT_IN,
                collective -> Features.collective(Features.gradients(List.of()), collective)))
        .flatMap(each -> each)
        .filter(each -> each.getPayload().servers().isEmpty());
  }
}
