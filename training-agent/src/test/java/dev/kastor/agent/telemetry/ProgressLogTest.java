package dev.kastor.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ProgressLogTest {
  private long now;
  private final ProgressLog log = new ProgressLog(() -> now);

  @Test
  void aLineEveryTenSecondsTellsWhatWasSinceTheLastOne() {
    assertThat(stepped(0, 100, 9)).isEmpty();
    assertThat(stepped(4, 200, 2)).isEmpty();
    assertThat(stepped(10, 350, 1))
        .contains(
            "step 350, 35 % done, epoch 3, loss 1.500, 1600 examples/s, batch 64 of 2 replicas, learning rate 0.100");
    assertThat(stepped(15, 351, Double.NaN)).isEmpty();
    assertThat(stepped(20, 352, Double.NaN))
        .get()
        .asString()
        .startsWith("step 352, 35 % done, epoch 3, 13 examples/s");
  }

  private Optional<String> stepped(long seconds, long step, double loss) {
    now = seconds * 1_000_000_000;
    return log.stepped(
        new StepSample(
            new TrainingStatus(
                1,
                1,
                "",
                2,
                new BatchPlan(32, 0),
                Optional.empty(),
                new Progress(step, step, 1000, step * 64, 3),
                Optional.of(0.1)),
            true,
            1,
            0.1,
            0.01,
            loss));
  }
}
