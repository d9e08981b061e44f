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

/** Job of workers and parameter servers that come, go and die as a test says. */
final class ServerJob implements AutoCloseable {
  static final BatchPlan PLAN = new BatchPlan(8, 0);

  private final Path folder;
  private final FakeOperator operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
  private final List<TestReplica> servers = new ArrayList<>();
  private final List<TestReplica> workers = new ArrayList<>();
  private final TrainingSettings settings;
  private final Supplier<LinearModel> models;
  private int started;

  ServerJob(Path folder, TrainingSettings settings, int serverCount) throws IOException {
    this(folder, settings, serverCount, LinearModel::new);
  }

  ServerJob(Path folder, TrainingSettings settings, int serverCount, Supplier<LinearModel> models)
      throws IOException {
    this.models = models;
    this.folder = folder;
    this.settings = settings;
    for (int index = 0; index < serverCount; index++) {
      servers.add(server("server-" + index, index));
    }
    operator.serve(servers.stream().map(TestReplica::pod).toList());
  }

  FakeOperator operator() {
    return operator;
  }

  /** By index. */
  List<TestReplica> servers() {
    return servers;
  }

  /** Those that belong to it. */
  List<TestReplica> workers() {
    return workers;
  }

  private TestReplica server(String pod, int index) {
    return TestReplica.startServer(pod, operator, settings, folder, index, models.get());
  }

  /** Adds workers. */
  void start(int count, boolean slow) {
    for (int i = 0; i < count; i++) {
      TestReplica worker =
          TestReplica.start(
              "job-" + started++, operator, settings, folder, Optional.empty(), models.get());
      worker.model().slow(slow);
      workers.add(worker);
    }
    want();
  }

  /** Makes its workers the members of the next generation. */
  void want() {
    operator.want(PLAN, workers.stream().map(TestReplica::pod).toList());
  }

  void killWorker(int index) throws InterruptedException {
    TestReplica victim = workers.remove(index);
    victim.kill();
    operator.died(List.of(victim.pod()));
  }

  /** Kills a server; another comes in its place. */
  void killServer(int index) throws InterruptedException {
    servers.get(index).kill();
    String pod = "server-" + index + "-again" + started++;
    servers.set(index, server(pod, index));
    operator.replaced(index, pod);
  }

  /** Another server comes in the place of one that lives, which is returned. */
  TestReplica replaceServer(int index) {
    String pod = "server-" + index + "-again" + started++;
    TestReplica before = servers.set(index, server(pod, index));
    operator.replaced(index, pod);
    return before;
  }

  long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  /** Waits until all workers train, and then for some steps. */
  void awaitSteps(int more) throws InterruptedException {
    operator.await("all workers train in the newest generation", operator::settled);
    operator.await("server 0 reports", () -> !operator.reports().isEmpty());
    long now = step();
    operator.await(more + " more steps", () -> step() >= now + more);
  }

  /** All ended alike; the outcome of server 0. */
  Outcome end(Outcome.Kind kind) throws InterruptedException {
    Outcome first = servers.getFirst().outcome();
    List<TestReplica> all = new ArrayList<>(servers);
    all.addAll(workers);
    for (TestReplica each : all) {
      Outcome outcome = each.outcome();
      assertThat(outcome.kind()).as(each.pod() + ": " + outcome.message()).isEqualTo(kind);
      assertThat(outcome.lostOrRepeatedExamples()).isZero();
    }
    assertThat(first.progress()).isNotNull();
    return first;
  }

  @Override
  public void close() {
    try (operator) {
      for (TestReplica each : servers) {
        each.kill();
      }
      for (TestReplica each : workers) {
        each.kill();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
