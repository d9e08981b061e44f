package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Training with parameter servers that are drained, ends, or hangs. */
@Tag("slow")
class ServerEndingTest {
  private static final Work ENDLESS = new Work.Steps(1L << 40);

  @TempDir Path folder;

  /** Without checkpoints but those that something asks for. */
  private static TrainingSettings settings(Work work, String sync) {
    return new TrainingSettings(
        16,
        0.02,
        new AdaScale(),
        work,
        5,
        Duration.ofDays(1),
        Duration.ofDays(1),
        Features.sync(SyncPolicies.BUILT_IN.choose(sync)));
  }

  /** So that the operator does not take a server for the cause. */
  @Test
  void allButAHungWorkerSayThatTheyWait() throws Exception {
    try (ServerJob job =
        new ServerJob(folder, settings(ENDLESS, "parameter-server:servers=2"), 2)) {
      job.start(2, true);
      job.awaitSteps(5);
      TestReplica hung = job.workers().getFirst();
      hung.model().delay(Duration.ofDays(1));
      FakeOperator operator = job.operator();
      operator.await(
          "all wait for the worker",
          () ->
              !operator.waits(hung.pod())
                  && operator.waits("server-0")
                  && operator.waits("server-1")
                  && operator.waits("job-1"));
    }
  }

  private CheckpointStore store() throws IOException {
    return new CheckpointStore(folder.resolve("checkpoints"), "uid", 3, InstantSource.system());
  }

  private long saved() {
    try {
      return store().steps().stream().findFirst().orElse(-1L);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"parameter-server:servers=2", "parameter-server:servers=2:mode=asynchronous"})
  void aServerThatIsDrainedAsksForACheckpoint(String sync) throws Exception {
    try (ServerJob job = new ServerJob(folder, settings(ENDLESS, sync), 2)) {
      job.start(2, true);
      job.awaitSteps(20);
      job.servers().get(1).saveSoon();
      job.operator().await("a checkpoint", () -> saved() >= 20);
      job.killServer(1);
      job.operator().await("all go on", job.operator()::settled);
      job.operator().stop();
      Outcome outcome = job.end(Outcome.Kind.STOPPED);
      assertThat(Objects.requireNonNull(outcome.progress()).step()).isGreaterThanOrEqualTo(20);
    }
  }

  /** Else the operator makes pods again for those that ended. */
  @Test
  void theOperatorHearsOfTheEndBeforeWorkersDo() throws Exception {
    try (ServerJob job =
        new ServerJob(folder, settings(new Work.Steps(20), "parameter-server"), 1)) {
      AtomicBoolean told = new AtomicBoolean();
      AtomicBoolean early = new AtomicBoolean();
      job.operator()
          .show(report -> {
            if (report.outcome() != null) {
              told.set(true);
              early.set(job.workers().getFirst().endsWithin(Duration.ofMillis(300)));
            }
          });
      job.start(1, false);
      job.end(Outcome.Kind.COMPLETED);
      assertThat(told).isTrue();
      assertThat(early).isFalse();
    }
  }

  @Test
  void stoppedWithoutWorkersWhereSharesAreMissing() throws Exception {
    try (ServerJob job =
        new ServerJob(folder, settings(ENDLESS, "parameter-server:mode=asynchronous"), 1)) {
      job.start(2, true);
      job.awaitSteps(5);
      job.servers().getFirst().saveSoon();
      job.operator().await("a checkpoint", () -> saved() > 0);
      long saved = saved();
      job.workers().getFirst().model().delay(Duration.ofDays(1));
      job.awaitSteps(20);
      for (TestReplica worker : job.workers()) {
        worker.kill();
      }
      job.operator().stop();
      Outcome outcome = job.servers().getFirst().outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.STOPPED);
      assertThat(outcome.lostOrRepeatedExamples()).isZero();
      assertThat(outcome.message()).contains("the newest is of step " + saved);
      assertThat(Objects.requireNonNull(outcome.progress()).step()).isGreaterThan(saved);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"parameter-server", "parameter-server:servers=2"})
  void server0SavesBeforeItLeavesToAnother(String sync) throws Exception {
    TrainingSettings settings = settings(ENDLESS, sync);
    int servers = settings.method().servers().orElseThrow().servers();
    try (ServerJob job = new ServerJob(folder, settings, servers)) {
      job.start(2, true);
      job.awaitSteps(20);
      assertThat(saved()).isLessThan(20);
      TestReplica before = job.replaceServer(0);
      assertThat(before.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
      assertThat(saved()).isGreaterThanOrEqualTo(20);
      job.operator().await("all go on", job.operator()::settled);
      job.operator().stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }
}
