package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.ring.Relay;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.optim.LearningRateRules;
import dev.kastor.engine.optim.Sgd;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Training with parameter servers whose workers, and which themselves, come, go and die. */
@Tag("slow")
class ServerTrainingTest {
  private static final BatchPlan PLAN = ServerJob.PLAN;
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
    try (ServerJob job = new ServerJob(folder, settings, servers)) {
      job.start(3, false);
      Outcome outcome = job.end(Outcome.Kind.COMPLETED);
      assertThat(Objects.requireNonNull(outcome.metric())).isLessThan(0.05);
      TelemetryReport last = job.operator().reports().getLast();
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
    try (ServerJob job = new ServerJob(folder, settings, servers)) {
      job.start(2, true);
      job.awaitSteps(5);
      job.start(2, true);
      job.awaitSteps(5);
      assertThat(
              job.operator().reports().stream()
                  .flatMap(report -> report.switches().stream())
                  .map(change -> "%s to %d".formatted(change.cause(), change.replicasAfter())))
          .as("those that compute when others come have not failed")
          .containsExactly("START to 2", "RESCALE to 4");
      job.killWorker(1);
      job.awaitSteps(5);
      TestReplica leaver = job.workers().removeFirst();
      job.want();
      assertThat(leaver.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
      job.awaitSteps(5);
      job.operator().stop();
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
    try (ServerJob job = new ServerJob(folder, settings, servers)) {
      job.start(2, true);
      job.awaitSteps(20);
      for (int index = 0; index < servers; index++) {
        job.killServer(index);
        job.awaitSteps(20);
      }
      job.operator().stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }

  private TrainingState saved() throws IOException {
    LinearModel model = new LinearModel();
    Replica replica = new Replica(model, new Sgd(0.9, 0), settings(ENDLESS, "parameter-server"));
    return new CheckpointStore(folder.resolve("checkpoints"), "uid", 3, InstantSource.system())
        .loadNewestValid(replica.state().forms())
        .orElseThrow()
        .state();
  }

  /** What replicas with a ring come to. */
  private static TrainingState withoutServers(int replicas, Work work) throws Exception {
    TrainingSettings ring =
        new TrainingSettings(
            16, 0.02, new AdaScale(), work, 5, Duration.ofDays(1), Duration.ofDays(1));
    SummedReplicas summed = SummedReplicas.of(PLAN, replicas, new Sgd(0.9, 0), ring);
    while (!summed.first().done()) {
      summed.step();
    }
    return summed.first().state();
  }

  private static void assertSame(TrainingState one, TrainingState other) {
    for (Section section : other.sections()) {
      assertThat(one.section(section.name()).values().toArray(ValueLayout.JAVA_BYTE))
          .as(section.name())
          .isEqualTo(section.values().toArray(ValueLayout.JAVA_BYTE));
    }
    assertThat(one.forms()).isEqualTo(other.forms());
  }

  /** All sections of the checkpoint, so that a job may go on with another sync. */
  @ParameterizedTest
  @CsvSource({"1, 0", "2, 0", "3, 1", "4, 2"})
  @Tag("never-retried")
  void stepsOnOneServerHaveTheBitsOfARing(int workers, int backup) throws Exception {
    Work work = new Work.Steps(60);
    try (ServerJob job =
        new ServerJob(folder, settings(work, "parameter-server:backup=" + backup), 1)) {
      job.start(workers, false);
      job.end(Outcome.Kind.COMPLETED);
    }
    assertSame(saved(), withoutServers(workers - backup, work));
  }

  /** With a rule that does not follow the noise, whose sums have an order. */
  @Test
  @Tag("never-retried")
  void bitsDoNotDependOnTheNumberOfServersNorOnWhoIsSlow() throws Exception {
    List<float[]> parameters = new ArrayList<>();
    for (String sync : List.of("", ":servers=2", ":servers=3:backup=1")) {
      TrainingSettings usual = settings(new Work.Steps(40), "parameter-server" + sync);
      TrainingSettings constant =
          new TrainingSettings(
              16,
              0.02,
              LearningRateRules.BUILT_IN.get("None"),
              usual.work(),
              5,
              Duration.ofDays(1),
              Duration.ofDays(1),
              usual.method());
      int backup = usual.method().servers().orElseThrow().backup();
      folder = folder.resolve("next");
      Files.createDirectory(folder);
      try (ServerJob job =
          new ServerJob(folder, constant, usual.method().servers().orElseThrow().servers())) {
        job.start(3 + backup, false);
        job.workers().getFirst().model().slow(true);
        job.end(Outcome.Kind.COMPLETED);
      }
      parameters.add(saved().section(TrainingState.PARAMETERS).floats());
    }
    assertThat(parameters).allSatisfy(each -> assertThat(each).isEqualTo(parameters.getFirst()));
  }

  /** A worker that read a row too few would compute with an old one, and change other bits. */
  @ParameterizedTest
  @ValueSource(strings = {"parameter-server", "parameter-server:servers=3"})
  @Tag("never-retried")
  void rowsOfTablesHaveTheBitsOfWholeTables(String sync) throws Exception {
    TrainingSettings settings = settings(new Work.Steps(60), sync);
    int servers = settings.method().servers().orElseThrow().servers();
    List<TrainingState> states = new ArrayList<>();
    for (boolean tells : List.of(false, true)) {
      folder = folder.resolve("next");
      Files.createDirectory(folder);
      try (ServerJob job =
          new ServerJob(folder, settings, servers, () -> LinearModel.ofTable(tells))) {
        job.start(2, false);
        job.end(Outcome.Kind.COMPLETED);
      }
      states.add(saved());
    }
    assertSame(states.get(0), states.get(1));
  }

  @Test
  @Tag("never-retried")
  void aWorkerThatIsLostChangesNoBit() throws Exception {
    changesNoBit(4 * 76);
  }

  @Test
  @Tag("nightly")
  @Tag("never-retried")
  void aWorkerThatIsLostAtAnyFrameChangesNoBit() throws Exception {
    changesNoBit(76);
  }

  /** Cuts its links before the first message of a share and after so many bytes more each time. */
  private void changesNoBit(int stride) throws Exception {
    Work work = new Work.Steps(12);
    TrainingState expected = withoutServers(2, work);
    List<Integer> points = new ArrayList<>();
    for (int bytes = 60; bytes < 1200; bytes += stride) {
      points.add(bytes);
    }
    for (int bytes : points) {
      folder = folder.resolve("cut");
      Files.createDirectory(folder);
      Map<String, Relay> relays = new HashMap<>();
      try (ServerJob job = new ServerJob(folder, settings(work, "parameter-server:backup=1"), 1)) {
        job.operator()
            .reach((pod, address) ->
                pod.equals("job-0") ? relayed(relays, pod, address, bytes) : address);
        job.start(3, false);
        Outcome outcome = job.servers().getFirst().outcome();
        assertThat(outcome.kind()).as(outcome.message()).isEqualTo(Outcome.Kind.COMPLETED);
        assertThat(outcome.lostOrRepeatedExamples()).isZero();
        // A worker may have come too late to hear of the end.
        job.operator().stop();
      } finally {
        for (Relay relay : relays.values()) {
          relay.close();
        }
      }
      assertSame(saved(), expected);
    }
  }

  @Test
  @Tag("never-retried")
  void serversThatLoseEachOtherLoseNoExample() throws Exception {
    loseNoExample(List.of(3000, 9000));
  }

  @Test
  @Tag("nightly")
  @Tag("never-retried")
  void serversThatLoseEachOtherElsewhereLoseNoExampleEither() throws Exception {
    loseNoExample(List.of(4001, 5500));
  }

  /** Links between servers, and of all workers to one of them, are cut again and again. */
  private void loseNoExample(List<Integer> points) throws Exception {
    for (int bytes : points) {
      folder = folder.resolve("cut");
      Files.createDirectory(folder);
      Map<String, Relay> relays = new HashMap<>();
      try (ServerJob job =
          new ServerJob(folder, settings(new Work.Steps(40), "parameter-server:servers=2"), 2)) {
        job.operator()
            .reach((pod, address) ->
                pod.equals("server-1") ? relayed(relays, pod, address, bytes) : address);
        job.start(2, false);
        Outcome outcome = job.servers().getFirst().outcome();
        assertThat(outcome.kind()).as(outcome.message()).isEqualTo(Outcome.Kind.COMPLETED);
        assertThat(outcome.lostOrRepeatedExamples()).isZero();
        // Whose link was cut at the end did not hear of it.
        job.operator().stop();
        assertThat(Objects.requireNonNull(outcome.progress()).examples()).isEqualTo(40 * 16);
      } finally {
        for (Relay relay : relays.values()) {
          relay.close();
        }
      }
    }
  }

  private static String relayed(Map<String, Relay> relays, String pod, String address, long bytes) {
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    Relay relay =
        relays.computeIfAbsent(
            pod,
            _ -> {
              try {
                return Relay.cutting(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), bytes);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    return "127.0.0.1:" + relay.address().getPort();
  }

  @Test
  void aSlowWorkersCopiesAreDroppedAndCounted() throws Exception {
    try (ServerJob job = new ServerJob(folder, settings(ENDLESS, "parameter-server:backup=1"), 1)) {
      job.start(3, false);
      job.workers().getFirst().model().slow(true);
      job.awaitSteps(200);
      job.operator()
          .await(
              "copies of the slow worker are dropped",
              () -> Objects.requireNonNull(job.operator().reports().getLast().droppedCopies()) > 3);
      job.operator().stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }

  @Test
  void updatesAreNoStalerThanAllowedAndAllAreCounted() throws Exception {
    try (ServerJob job =
        new ServerJob(
            folder, settings(ENDLESS, "parameter-server:mode=asynchronous:mostStaleness=2"), 1)) {
      job.start(4, true);
      job.awaitSteps(100);
      job.operator().stop();
      Outcome outcome = job.end(Outcome.Kind.STOPPED);
      List<Long> counts =
          Objects.requireNonNull(job.operator().reports().getLast().staleness()).counts();
      assertThat(counts.subList(3, counts.size())).containsOnly(0L);
      assertThat(counts.get(2)).as("it is used").isPositive();
      long told = counts.stream().mapToLong(each -> each).sum();
      assertThat(told).isBetween(100L, Objects.requireNonNull(outcome.progress()).step());
    }
  }

  @Test
  void aWorkerThatGivesNoNumbersFailsAndTheOthersGoOn() throws Exception {
    try (ServerJob job = new ServerJob(folder, settings(ENDLESS, "parameter-server"), 1)) {
      job.start(3, true);
      job.awaitSteps(8);
      TestReplica broken = job.workers().remove(1);
      broken.model().spoil(Float.NaN, 1);
      Outcome outcome = broken.outcome();
      assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED);
      assertThat(outcome.message()).doesNotContain("at step 0;").contains("another worker's is");
      job.operator().died(List.of(broken.pod()));
      job.awaitSteps(8);
      job.operator().stop();
      job.end(Outcome.Kind.STOPPED);
    }
  }

  @Test
  void trainingThatDivergesEndsForAll() throws Exception {
    try (ServerJob job =
        new ServerJob(folder, settings(ENDLESS, "parameter-server:servers=2"), 2)) {
      job.start(2, true);
      job.awaitSteps(3);
      job.workers().forEach(each -> each.model().spoil(Float.POSITIVE_INFINITY, 1000));
      job.end(Outcome.Kind.FAILED_PERMANENTLY);
    }
  }

  /** To servers and back, each from the checkpoint of the one before. */
  @Test
  void aJobGoesOnWithAnotherSync() throws Exception {
    for (String sync :
        List.of(
            "parameter-server:servers=2",
            "",
            "parameter-server:mode=asynchronous",
            "parameter-server:servers=3:backup=1")) {
      long before;
      if (sync.isEmpty()) {
        try (TestJob job = new TestJob(folder)) {
          before = saved().step();
          job.start(
              2,
              new TrainingSettings(
                  16, 0.02, new AdaScale(), ENDLESS, 5, Duration.ofMillis(50), Duration.ofDays(1)),
              true);
          job.want(PLAN);
          job.awaitSteps(5);
          job.operator().stop();
          job.assertSameEnd(Outcome.Kind.STOPPED);
        }
      } else {
        TrainingSettings settings = settings(ENDLESS, sync);
        int servers = settings.method().servers().orElseThrow().servers();
        before = Files.exists(folder.resolve("checkpoints")) ? saved().step() : 0;
        try (ServerJob job = new ServerJob(folder, settings, servers)) {
          job.start(2, true);
          job.awaitSteps(5);
          job.operator().stop();
          job.end(Outcome.Kind.STOPPED);
        }
      }
      assertThat(saved().step()).isGreaterThan(before);
    }
  }
}
