package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gradients that are not finite: of one member, of all of them, once and again. */
class NotFiniteTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final TrainingSettings ENDLESS =
      new TrainingSettings(
          16,
          0.02,
          new AdaScale(),
          new Work.Steps(1L << 40),
          5,
          Duration.ofMillis(50),
          Duration.ofSeconds(10));

  @TempDir Path folder;
  private FakeOperator operator;
  private final List<TestReplica> replicas = new ArrayList<>();

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

  private void start(int count) {
    for (int i = 0; i < count; i++) {
      replicas.add(TestReplica.start("job-" + replicas.size(), operator, ENDLESS, folder));
    }
  }

  private void train() throws InterruptedException {
    operator.want(PLAN, replicas.stream().map(TestReplica::pod).toList());
    operator.await("all members train", operator::settled);
    awaitSteps(5);
  }

  private void awaitSteps(int more) throws InterruptedException {
    long now = step();
    operator.await(more + " more steps", () -> step() >= now + more);
  }

  private long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  @Tag("slow")
  @Test
  void aNaNOfOneMemberIsThatMembersFailureAndTheOthersGoOn() throws Exception {
    start(3);
    train();
    TestReplica broken = replicas.remove(1);
    broken.model().spoil(Float.NaN, 1);
    Outcome failed = broken.outcome();
    assertThat(failed.kind()).as(failed.message()).isEqualTo(Outcome.Kind.FAILED);
    assertThat(failed.message()).contains("not finite", "the other 2");
    operator.died(List.of(broken.pod()));
    operator.await("the others train", operator::settled);
    awaitSteps(5);

    operator.stop();
    for (TestReplica replica : replicas) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.STOPPED);
      assertThat(outcome.lostOrRepeatedExamples()).isZero();
      assertThat(replica.model().parameters()).isEqualTo(replicas.getFirst().model().parameters());
      for (float parameter : replica.model().parameters()) {
        assertThat(parameter).isFinite();
      }
    }
  }

  @Tag("slow")
  @Test
  void aNaNThatDoesNotComeAgainCostsAStepAlone() throws Exception {
    start(1);
    train();
    replicas.getFirst().model().spoil(Float.NaN, 1);
    awaitSteps(20);
    operator.stop();
    assertThat(replicas.getFirst().outcome().kind()).isEqualTo(Outcome.Kind.STOPPED);
  }

  @Tag("slow")
  @Test
  void failsForGoodWhenNoMembersGradientIsFinite() throws Exception {
    start(2);
    replicas.forEach(replica -> replica.model().spoil(Float.NaN, Integer.MAX_VALUE));
    operator.want(PLAN, replicas.stream().map(TestReplica::pod).toList());
    for (TestReplica replica : replicas) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
      assertThat(outcome.message()).contains("learningRate.base");
    }
  }

  /** Nobody knows whose fault it is, so the job goes back to its checkpoint. */
  @Tag("slow")
  @Test
  void failsWhenASumIsNotFiniteThoughAllOfItIs() throws Exception {
    start(2);
    replicas.forEach(replica -> replica.model().spoil(Float.MAX_VALUE, Integer.MAX_VALUE));
    operator.want(PLAN, replicas.stream().map(TestReplica::pod).toList());
    for (TestReplica replica : replicas) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED);
      assertThat(Objects.requireNonNull(outcome.progress()).step()).isZero();
    }
  }
}
