package dev.kastor.agent.trainer;

import dev.kastor.agent.membership.LocalReplica;
import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.ring.Crew;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.scheduler.model.JobId;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One replica in a thread of its own, wired as in the real process. */
final class TestReplica {
  static final JobId JOB = new JobId("team", "job");

  private final String pod;
  private final LinearModel model;
  private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
  private final Thread thread;
  private volatile @Nullable Training training;

  /** Index of a parameter server, -1 for a replica. */
  private final int server;

  private TestReplica(
      String pod,
      FakeOperator operator,
      TrainingSettings settings,
      Path folder,
      Optional<WarmStart> warmStart,
      LinearModel model,
      int server) {
    this.pod = pod;
    this.model = model;
    this.server = server;
    this.thread =
        Thread.ofPlatform().name(pod).unstarted(() -> run(operator, settings, folder, warmStart));
  }

  /** A parameter server. */
  static TestReplica startServer(
      String pod,
      FakeOperator operator,
      TrainingSettings settings,
      Path folder,
      int index,
      LinearModel model) {
    TestReplica server =
        new TestReplica(pod, operator, settings, folder, Optional.empty(), model, index);
    server.thread.start();
    return server;
  }

  static TestReplica start(
      String pod, FakeOperator operator, TrainingSettings settings, Path folder) {
    return start(pod, operator, settings, folder, Optional.empty());
  }

  static TestReplica start(
      String pod,
      FakeOperator operator,
      TrainingSettings settings,
      Path folder,
      Optional<WarmStart> warmStart) {
    return start(pod, operator, settings, folder, warmStart, new LinearModel());
  }

  static TestReplica start(
      String pod,
      FakeOperator operator,
      TrainingSettings settings,
      Path folder,
      Optional<WarmStart> warmStart,
      LinearModel model) {
    TestReplica replica = new TestReplica(pod, operator, settings, folder, warmStart, model, -1);
    replica.thread.start();
    return replica;
  }

  private void run(
      FakeOperator operator,
      TrainingSettings settings,
      Path folder,
      Optional<WarmStart> warmStart) {
    try {
      Path token = Files.writeString(folder.resolve(pod + ".token"), FakeOperator.token(pod));
      RingKey key = new RingKey(JOB.toString(), new byte[RingKey.MIN_BYTES], RingCipher.AES_GCM);
      InetAddress loopback = InetAddress.getLoopbackAddress();
      try (RingListener listener = RingListener.open(key, Crew.LIMITS, loopback);
          OperatorConnection connection =
              new OperatorConnection(operator.uri(), JOB, token, operator.certificate().caFile());
          MembershipClient memberships =
              MembershipClient.start(
                  connection, JOB, new LocalReplica(pod, "127.0.0.1:" + listener.port()));
          TelemetryClient telemetry =
              TelemetryClient.start(
                  connection, Membership.PROTOCOL, JOB, pod, Duration.ofMillis(50));
          Training trainer =
              trainer(
                  new Surroundings(
                      JOB.toString(),
                      pod,
                      listener,
                      Crew.LIMITS,
                      memberships,
                      telemetry,
                      new CheckpointStore(
                          folder.resolve("checkpoints"), "uid", 3, InstantSource.system()),
                      // Tests measure from the first step on.
                      Duration.ZERO,
                      warmStart),
                  settings)) {
        training = trainer;
        outcome.complete(trainer.run());
      }
    } catch (Exception e) {
      outcome.completeExceptionally(e);
    }
  }

  private Training trainer(Surroundings around, TrainingSettings settings) throws ProgramException {
    Sgd optimizer = new Sgd(0.9, 0);
    if (server >= 0) {
      return new ServerTrainer(around, settings, model, optimizer, server);
    }
    return settings.method().servers().isPresent()
        ? new ServerWorker(around, settings, model, optimizer)
        : new ElasticTrainer(around, settings, model, optimizer);
  }

  /** Its sockets close wherever it is just now; waits until it is gone. */
  void kill() throws InterruptedException {
    thread.interrupt();
    thread.join();
  }

  /** As on SIGTERM; it runs already. */
  void saveSoon() {
    Objects.requireNonNull(training).saveSoon();
  }

  String pod() {
    return pod;
  }

  LinearModel model() {
    return model;
  }

  /** Waits for its end for some time; whether it has ended. */
  boolean endsWithin(Duration limit) {
    try {
      return thread.join(limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Waits for its end and how it ended. */
  Outcome outcome() throws InterruptedException {
    thread.join();
    return outcome.join();
  }
}
