package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Job of replicas that come, go and die as a test says. */
final class TestJob implements AutoCloseable {
  private final Path folder;
  private final FakeOperator operator;
  private final List<TestReplica> replicas = new ArrayList<>();
  private final Supplier<LinearModel> models;
  private int started;

  TestJob(Path folder) throws IOException {
    this(folder, LinearModel::new);
  }

  /** One whose replicas train models of this kind. */
  TestJob(Path folder, Supplier<LinearModel> models) throws IOException {
    this.models = models;
    this.folder = folder;
    this.operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
  }

  FakeOperator operator() {
    return operator;
  }

  /** Those that belong to it. */
  List<TestReplica> replicas() {
    return replicas;
  }

  /**
   * Adds replicas.
   *
   * @param slow leaves the processor to the operator
   */
  void start(int count, TrainingSettings settings, boolean slow) {
    for (int i = 0; i < count; i++) {
      TestReplica replica =
          TestReplica.start(
              "job-" + started++, operator, settings, folder, Optional.empty(), models.get());
      replica.model().slow(slow);
      replicas.add(replica);
    }
  }

  /** Makes its replicas the members of the next generation. */
  void want(BatchPlan plan) {
    operator.want(plan, replicas.stream().map(TestReplica::pod).toList());
  }

  /** Kills a replica; the others go on with a plan. */
  void kill(int index, BatchPlan plan) throws InterruptedException {
    TestReplica victim = replicas.remove(index);
    victim.kill();
    operator.died(List.of(victim.pod()), plan);
  }

  /** Waits until all members train, and then for some steps. */
  void awaitSteps(int more) throws InterruptedException {
    operator.await("all members train in the newest generation", operator::settled);
    long now = step();
    operator.await(more + " more steps", () -> step() >= now + more);
  }

  private long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  /** All replicas ended alike, with the same bits and without losing or repeating an example. */
  Outcome assertSameEnd(Outcome.Kind kind) throws InterruptedException {
    Outcome first = replicas.getFirst().outcome();
    for (TestReplica replica : replicas) {
      Outcome outcome = replica.outcome();
      assertThat(outcome.kind()).as(outcome.message()).isEqualTo(kind);
      assertThat(outcome.progress()).isEqualTo(first.progress());
      assertThat(outcome.lostOrRepeatedExamples()).isZero();
      assertThat(replica.model().readParameters())
          .isEqualTo(replicas.getFirst().model().readParameters());
    }
    return first;
  }

  /** Changes of all kinds, after which all replicas that are left stop with the same bits. */
  void membersComeGoAndDie(TrainingSettings endless, BatchPlan plan) throws InterruptedException {
    start(1, endless, true);
    want(plan);
    awaitSteps(5);
    start(2, endless, true);
    want(plan);
    awaitSteps(5);
    kill(1, plan);
    awaitSteps(5);
    start(1, endless, true);
    want(plan);
    awaitSteps(5);
    TestReplica leaver = replicas.removeFirst();
    want(plan);
    assertThat(leaver.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
    awaitSteps(5);
    operator.stop();
    assertSameEnd(Outcome.Kind.STOPPED);
  }

  @Override
  public void close() {
    try (operator) {
      for (TestReplica replica : replicas) {
        replica.kill();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
