package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Training of chosen examples by members that come, go and die. */
@Timeout(180)
@Tag("slow")
class SelectedTrainingTest {
  @TempDir Path folder;
  private FakeOperator operator;
  private final List<TestReplica> replicas = new ArrayList<>();
  private int started;

  @BeforeEach
  void open() throws IOException {
    operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
  }

  @AfterEach
  void close() throws InterruptedException {
    for (TestReplica replica : replicas) {
      replica.kill();
    }
    operator.close();
  }

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

  private void start(int count, TrainingSettings settings, boolean slow) {
    for (int i = 0; i < count; i++) {
      TestReplica replica = TestReplica.start("job-" + started++, operator, settings, folder);
      // Leaves the processor to the operator.
      replica.model().slow(slow);
      replicas.add(replica);
    }
  }

  private void want() {
    operator.want(new BatchPlan(8, 0), replicas.stream().map(TestReplica::pod).toList());
  }

  private void awaitSteps(int more) throws InterruptedException {
    operator.await("all members train in the newest generation", operator::settled);
    long now = step();
    operator.await(more + " more steps", () -> step() >= now + more);
  }

  private long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  private Outcome assertSameEnd(Outcome.Kind kind) throws InterruptedException {
    Outcome first = replicas.getFirst().outcome();
    for (TestReplica replica : replicas) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).as(outcome.message()).isEqualTo(kind);
      assertThat(outcome.progress()).isEqualTo(first.progress());
      assertThat(outcome.lostOrRepeatedExamples()).isZero();
      assertThat(replica.model().parameters()).isEqualTo(replicas.getFirst().model().parameters());
    }
    return first;
  }

  @Test
  void membersComeGoAndDieAndAllKeepTheSameBits() throws Exception {
    TrainingSettings endless = settings(new Work.Steps(1L << 40), "backprop:wholeEpochs=0");
    start(1, endless, true);
    want();
    awaitSteps(5);
    start(2, endless, true);
    want();
    awaitSteps(5);
    TestReplica victim = replicas.remove(1);
    victim.kill();
    operator.died(List.of(victim.pod()));
    awaitSteps(5);
    start(1, endless, true);
    want();
    awaitSteps(5);
    TestReplica leaver = replicas.removeFirst();
    want();
    assertThat(leaver.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
    awaitSteps(5);
    operator.stop();
    assertSameEnd(Outcome.Kind.STOPPED);
  }

  @Test
  void trainsToTheEndAndTellsBothCounts() throws Exception {
    start(2, settings(new Work.Epochs(20), "backprop:beta=1"), false);
    want();
    Outcome outcome = assertSameEnd(Outcome.Kind.COMPLETED);
    assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
    assertThat(outcome.message()).containsPattern("judged \\d+ examples and trained \\d+ of them");
  }
}
