package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.Sgd;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointsTest {
  @TempDir Path folder;

  @Test
  void saysWhetherASaveIsUnderWay() throws Exception {
    TrainingSettings settings =
        new TrainingSettings(
            16, 0.02, new AdaScale(), new Work.Steps(1), 5, Duration.ofDays(1), Duration.ofDays(1));
    Replica replica = new Replica(new LinearModel(), new Sgd(0.9, 0), settings);
    replica.startFresh();
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (Checkpoints checkpoints =
        new Checkpoints(
            "job",
            new CheckpointStore(folder, "uid", 3, InstantSource.system()),
            replica.state().forms(),
            _ -> {
              written.countDown();
              try {
                release.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            _ -> {})) {
      assertThat(checkpoints.isSaving()).isFalse();
      checkpoints.saveInBackground(replica.state());
      written.await();
      assertThat(checkpoints.isSaving()).isTrue();
      release.countDown();
      assertThat(checkpoints.newestStep()).as("after it").hasValue(0);
      while (checkpoints.isSaving()) {
        Thread.sleep(1);
      }
    }
  }
}
