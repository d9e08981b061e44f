package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Training with a tuned learning rate by members that come, go and die. */
@Tag("slow")
class TunedTrainingTest {
  /** The same batch of the same two passes by one replica and by two. */
  private static final BatchPlan ALONE = new BatchPlan(8, 1);

  private static final BatchPlan TOGETHER = new BatchPlan(8, 0);

  @TempDir Path folder;

  private static TrainingSettings settings(String tuner) {
    return new TrainingSettings(
        8,
        0.02,
        new AdaScale(),
        new Work.Steps(4000),
        5,
        Duration.ofMillis(50),
        Duration.ofHours(1),
        Features.tune(Optional.of(Tuners.BUILT_IN.choose(tuner))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"plateau:patience=20:threshold=0.05", "phases:warmUp=100:decay=linear"})
  @Tag("never-retried")
  void aJobWhoseMembersChangeHasTheBitsOfOneThatTrainsAlone(String tuner) throws Exception {
    TrainingSettings settings = settings(tuner);
    Outcome outcome;
    float[] parameters;
    try (TestJob job = new TestJob(folder)) {
      job.start(1, settings, true);
      job.want(ALONE);
      job.awaitSteps(20);
      job.start(1, settings, true);
      job.want(TOGETHER);
      job.awaitSteps(20);
      job.kill(0, ALONE);
      job.awaitSteps(20);
      job.start(1, settings, true);
      job.want(TOGETHER);
      job.awaitSteps(40);
      job.operator().stop();
      outcome = job.assertSameEnd(Outcome.Kind.STOPPED);
      parameters = job.replicas().getFirst().model().parameters();
    }
    Replica undisturbed = new Replica(new LinearModel(), new Sgd(0.9, 0), settings);
    undisturbed.startFresh();
    long steps = Objects.requireNonNull(outcome.progress()).step();
    for (long step = 0; step < steps; step++) {
      undisturbed.apply(List.of(undisturbed.compute(ALONE, 1, 0, _ -> {})), ALONE);
    }
    assertThat(undisturbed.progress()).isEqualTo(outcome.progress());
    TrainingState state = undisturbed.state();
    assertThat(state.section(TrainingState.PARAMETERS).floats()).isEqualTo(parameters);
    assertThat(undisturbed.learningRate().orElseThrow()).as("tuned").isNotEqualTo(0.02);
  }
}
