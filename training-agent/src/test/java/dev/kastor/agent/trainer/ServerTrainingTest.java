package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Training with parameter servers whose workers, and which themselves, come, go and die. */
@Timeout(180)
@Tag("slow")
class ServerTrainingTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);
  private static final Work ENDLESS = new Work.Steps(1L << 40);

  @TempDir Path folder;

  private static TrainingSettings settings(Work work, String sync) {
    return new TrainingSettings(
        16,
        0.02,
        new AdaScale(),
        work,
        5,
        Duration.ofMillis(50),
        Duration.ofSeconds(10),
        Features.sync(SyncPolicies.BUILT_IN.choose(sync)));
  }

  /** Job of workers and servers. */
  private final class Job implements AutoCloseable {
    final FakeOperator operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
    final List<TestReplica> servers = new ArrayList<>();
    final List<TestReplica> workers = new ArrayList<>();
    final TrainingSettings settings;
    int started;

    Job(TrainingSettings settings, int serverCount) throws IOException {
      this.settings = settings;
      for (int index = 0; index < serverCount; index++) {
        servers.add(server("server-" + index, index));
      }
      operator.serve(servers.stream().map(TestReplica::pod).toList());
    }

    TestReplica server(String pod, int index) {
      return TestReplica.startServer(pod, operator, settings, folder, index, new LinearModel());
    }

    void start(int count, boolean slow) {
      for (int i = 0; i < count; i++) {
        TestReplica worker = TestReplica.start("job-" + started++, operator, settings, folder);
        worker.model().slow(slow);
        workers.add(worker);
      }
      want();
    }

    void want() {
      operator.want(PLAN, workers.stream().map(TestReplica::pod).toList());
    }

    void killWorker(int index) throws InterruptedException {
      TestReplica victim = workers.remove(index);
      victim.kill();
      operator.died(List.of(victim.pod()));
    }

    void killServer(int index) throws InterruptedException {
      servers.get(index).kill();
      String pod = "server-" + index + "-again" + started++;
      servers.set(index, server(pod, index));
      operator.replaced(index, pod);
    }

    long step() {
      List<TelemetryReport> reports = operator.reports();
      return reports.isEmpty() ? 0 : reports.getLast().progress().step();
    }

    void awaitSteps(int more) throws InterruptedException {
      operator.await("all workers train in the newest generation", operator::settled);
      long now = step();
      operator.await(more + " more steps", () -> step() >= now + more);
    }

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
    public void close() throws InterruptedException {
      try (operator) {
        for (TestReplica each : servers) {
          each.kill();
        }
        for (TestReplica each : workers) {
          each.kill();
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "parameter-server",
        "parameter-server:servers=3",
        "parameter-server:backup=1",
        "parameter-server:mode=asynchronous",
        "parameter-server:mode=asynchronous:servers=2:mostStaleness=2",
      })
  void trainsToTheEnd(String sync) throws Exception {
    TrainingSettings settings = settings(new Work.Epochs(20), sync);
    int servers = settings.method().servers().orElseThrow().servers();
    try (Job job = new Job(settings, servers)) {
      job.start(3, false);
      Outcome outcome = job.end(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
      TelemetryReport last = job.operator.reports().getLast();
      assertThat(last.gradient()).isNotNull();
      assertThat(last.profiles()).isNotNull();
      assertThat(last.staleness() != null).isEqualTo(sync.contains("asynchronous"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "parameter-server:servers=2",
        "parameter-server:backup=1",
        "parameter-server:mode=asynchronous:servers=2",
      })
  void workersComeGoAndDie(String sync) throws Exception {
    TrainingSettings settings = settings(ENDLESS, sync);
    int servers = settings.method().servers().orElseThrow().servers();
    try (Job job = new Job(settings, servers)) {
      job.start(2, true);
      job.awaitSteps(5);
      job.start(2, true);
      job.awaitSteps(5);
      job.killWorker(1);
      job.awaitSteps(5);
      TestReplica leaver = job.workers.removeFirst();
      job.want();
      assertThat(leaver.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
      job.awaitSteps(5);
      job.operator.stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "parameter-server",
        "parameter-server:servers=2",
        "parameter-server:mode=asynchronous:servers=2",
      })
  void serversDie(String sync) throws Exception {
    TrainingSettings settings = settings(ENDLESS, sync);
    int servers = settings.method().servers().orElseThrow().servers();
    try (Job job = new Job(settings, servers)) {
      job.start(2, true);
      job.awaitSteps(20);
      for (int index = 0; index < servers; index++) {
        job.killServer(index);
        job.awaitSteps(20);
      }
      job.operator.stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }
}
