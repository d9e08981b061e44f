package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training of chosen examples by members that come, go and die. */
@Tag("slow")
class SelectedTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);

  @TempDir Path folder;

  private static TrainingSettings settings(Work work, String selector) {
    return new TrainingSettings(
        16,
        0.02,
        new AdaScale(),
        work,
        5,
        Duration.ofMillis(50),
        Duration.ofSeconds(10),
        Features.select(Optional.of(ExampleSelectors.BUILT_IN.choose(selector))));
  }

  @Test
  @Tag("never-retried")
  void membersComeGoAndDieAndAllKeepTheSameBits() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.membersComeGoAndDie(settings(new Work.Steps(1L << 40), "backprop:wholeEpochs=0"), PLAN);
    }
  }

  @Test
  void trainsToTheEndAndTellsBothCounts() throws Exception {
    try (TestJob job = new TestJob(folder)) {
      job.start(2, settings(new Work.Epochs(20), "backprop:beta=1"), false);
      job.want(PLAN);
      Outcome outcome = job.assertSameEnd(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
      assertThat(outcome.message())
          .containsPattern("judged \\d+ examples and trained \\d+ of them");
    }
  }
}
