package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.StepProfile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training in rounds of local steps by members that come, go and die. */
@Tag("slow")
class LocalTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final TrainingMethod LOCAL =
      Features.sync(SyncPolicies.BUILT_IN.choose("local:steps=8"));

  /** Codes of rounds, of examples that are chosen by their losses, in rounds that grow. */
  private static final TrainingMethod ALL =
      Features.method(
          List.of(),
          Optional.of(GradientCodecs.BUILT_IN.choose("bf16")),
          List.of(),
          Optional.of(ExampleSelectors.BUILT_IN.choose("backprop:beta=1:wholeEpochs=0")),
          Optional.empty(),
          Optional.of(new DoublingPeriod().chosen()));

  private static final Work ENDLESS = new Work.Steps(1L << 40);

  @TempDir Path folder;

  private static TrainingSettings settings(Work work, TrainingMethod method) {
    return new TrainingSettings(
        16, 0.02, new AdaScale(), work, 5, Duration.ofMillis(50), Duration.ofSeconds(10), method);
  }

  @Test
  void trainsToTheEnd() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(2, settings(new Work.Epochs(20), LOCAL), false);
      job.want(PLAN);
      Outcome outcome = job.assertSameEnd(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
      assertThat(job.operator().reports().getLast().gradient()).isNotNull();
      int told =
          job.operator().reports().stream()
              .flatMap(report -> report.profiles().stream())
              .mapToInt(StepProfile::steps)
              .sum();
      long steps = Objects.requireNonNull(outcome.progress()).step();
      assertThat((long) told).as("not those of the first round").isBetween(steps / 2, steps - 8);
    }
  }

  @Test
  @Tag("never-retried")
  void membersComeGoAndDieAndAllKeepTheSameBits() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.membersComeGoAndDie(settings(ENDLESS, LOCAL), PLAN);
    }
  }

  @Test
  @Tag("never-retried")
  void soTheyDoWithACodecASelectorAndAPolicyThatChanges() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.membersComeGoAndDie(settings(ENDLESS, ALL), PLAN);
    }
  }

  /** Killed in their rounds, one after another, none of which is at the end of one by chance. */
  @Test
  @Tag("never-retried")
  void killsWithinRoundsLoseAndRepeatNothing() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(4, settings(ENDLESS, LOCAL), true);
      job.want(PLAN);
      for (int killed = 0; killed < 3; killed++) {
        job.awaitSteps(8);
        // In the middle of a round of 8 steps of some 3 ms.
        Thread.sleep(12);
        job.kill(0, PLAN);
      }
      job.awaitSteps(8);
      job.operator().stop();
      Outcome outcome = job.assertSameEnd(Outcome.Kind.STOPPED);
      assertThat(Objects.requireNonNull(outcome.progress()).step()).isGreaterThan(32);
    }
  }

  @Test
  void aReplicaThatGivesNoNumbersFailsAndTheOthersGoOn() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(3, settings(ENDLESS, LOCAL), true);
      job.want(PLAN);
      job.awaitSteps(8);
      TestReplica broken = job.replicas().remove(1);
      broken.model().spoil(Float.NaN, 1);
      assertThat(broken.outcome().kind()).isEqualTo(Outcome.Kind.FAILED);
      job.operator().died(List.of(broken.pod()));
      job.awaitSteps(8);
      job.operator().stop();
      job.assertSameEnd(Outcome.Kind.STOPPED);
      for (float parameter : job.replicas().getFirst().model().parameters()) {
        assertThat(parameter).isFinite();
      }
    }
  }
}
