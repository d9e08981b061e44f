package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.protocol.Membership;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class ApiOutageIT {
  private static final String NAMESPACE = "team";

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Inject JobRecords records;

  private final KubernetesClient client = FakeApiServer.client();
  private FakeAgents agents;
  private String name;

  @BeforeEach
  void run() {
    agents =
        new FakeAgents(
            client,
            new AgentClient(base.toString().replaceAll("/$", ""), FakeApiServer.certificate()));
    client
        .nodes()
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName("n1")
                .addToLabels("kubernetes.io/hostname", "n1")
                .endMetadata()
                .withNewStatus()
                .withAllocatable(Map.of("kastor.dev/slot", new Quantity("4")))
                .endStatus()
                .build())
        .createOr(existing -> existing.update());
    name = "job" + System.nanoTime();
    submit(name);
    await("it trains", () -> members(name) == 2);
  }

  @AfterEach
  void removeJobs() {
    FakeApiServer.fail(0);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).delete();
    await(
        "no pods are left", () -> client.pods().inNamespace(NAMESPACE).list().getItems().isEmpty());
    agents.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 500, 503})
  void agentsAreAnsweredThroughoutAndWhatHappenedMeanwhileIsMadeUpForAfterwards(int status) {
    long generation = status(name).generation();
    int unanswered = agents.unanswered();
    FakeApiServer.fail(status);
    awaitAnswers(name + "-0", 3);
    awaitAnswers(name + "-1", 1);
    assertThat(agents.unanswered()).as("polls without an answer").isEqualTo(unanswered);
    assertThat(agents.membership(name + "-0")).as("ended: %s", agents.ends()).isPresent();
    agents.crash(NAMESPACE, name + "-1", 137);
    awaitAnswers(name + "-0", 3);
    assertThat(status(name).generation())
        .as("no generation that is not stored")
        .isEqualTo(generation);
    assertThat(agents.membership(name + "-0").map(Membership::generation))
        .as("what its first pod trains in; ended: %s", agents.ends())
        .hasValue(generation);
    FakeApiServer.fail(0);
    await("a replacement trains with it", () -> members(name) == 2);
    assertThat(agents.started()).containsExactlyInAnyOrder(name + "-0", name + "-1", name + "-2");
    assertThat(status(name).generation()).isGreaterThan(generation);
  }

  @Test
  void aJobThatCameDuringTheOutageStartsAfterIt() {
    FakeApiServer.fail(500);
    String late = "late" + System.nanoTime();
    submit(late);
    await(
        "what it is given could not be stored, twice",
        () -> FakeApiServer.failed("PATCH .*/trainingjobs/" + late + "/status.*") >= 2);
    assertThat(agents.started()).hasSize(2);
    FakeApiServer.fail(0);
    await("it trains", () -> members(late) == 2);
    assertThat(agents.started()).hasSize(4);
  }

  @Test
  void theRecordOfAJobThatIsGoneDoesNotWaitForTheApiServer() {
    FakeApiServer.fail(500);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name).delete();
    await("no record is left", () -> records.size() == 0);
  }

  @Test
  void aPodWhoseMakingWasNotAnsweredIsNotMadeTwice() {
    FakeApiServer.loseAnswer("POST", "/api/v1/namespaces/team/pods", "");
    String second = "second" + System.nanoTime();
    submit(second);
    await("it trains", () -> members(second) == 2);
    assertThat(FakeApiServer.answersToLose()).isZero();
    assertThat(agents.started()).hasSize(4);
  }

  @Test
  void anEndThatWasStoredWithoutAnAnswerKeepsItsTime() {
    List<String> ends = new CopyOnWriteArrayList<>();
    try (Watch _ =
        client
            .resources(TrainingJob.class)
            .inNamespace(NAMESPACE)
            .withName(name)
            .watch(new EndsOf(ends))) {
      FakeApiServer.loseAnswer("PATCH", ".*/trainingjobs/.*/status", "completionTime\":\"");
      agents.complete(name);
      await("its slots are free", () -> status(name).allocation().replicas() == 0);
    }
    assertThat(FakeApiServer.answersToLose()).isZero();
    assertThat(ends).isNotEmpty();
    assertThat(new HashSet<>(ends)).as("when it ended").hasSize(1);
  }

  @Test
  void anEndThatIsStoredLongAfterItWasSentKeepsItsTime() {
    List<String> ends = new CopyOnWriteArrayList<>();
    try (Watch _ =
        client
            .resources(TrainingJob.class)
            .inNamespace(NAMESPACE)
            .withName(name)
            .watch(new EndsOf(ends))) {
      FakeApiServer.loseAnswer(
          "PATCH", ".*/trainingjobs/.*/status", "completionTime\":\"", Duration.ofSeconds(8));
      agents.complete(name);
      await("its slots are free", () -> status(name).allocation().replicas() == 0);
      await("all is done that was asked for", () -> FakeApiServer.answersToLose() == 0);
      await("it is told of", () -> !ends.isEmpty());
    }
    assertThat(new HashSet<>(ends)).as("when it ended").hasSize(1);
  }

  private record EndsOf(List<String> ends) implements Watcher<TrainingJob> {
    @Override
    public void eventReceived(Action action, TrainingJob job) {
      if (job.getStatus() != null && job.getStatus().completionTime() != null) {
        ends.add(job.getStatus().completionTime());
      }
    }

    @Override
    public void onClose(WatcherException cause) {}
  }

  private void submit(String job) {
    TrainingJob made = TestJobs.job(job, 2, 2, GoodputSpec.Mode.Fixed);
    made.getMetadata().setUid(null);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).resource(made).create();
  }

  private TrainingJobStatus status(String job) {
    return client
        .resources(TrainingJob.class)
        .inNamespace(NAMESPACE)
        .withName(job)
        .get()
        .getStatus();
  }

  private long members(String job) {
    TrainingJobStatus status = status(job);
    if (status == null || status.generation() == null) {
      return 0;
    }
    return agents.started().stream()
        .filter(pod -> pod.startsWith(job))
        .map(agents::membership)
        .filter(at -> at.isPresent() && at.get().generation() == status.generation())
        .count();
  }

  /** Waits until so many more polls of a pod were answered. */
  private void awaitAnswers(String pod, int more) {
    int before = agents.answered(pod);
    await(more + " answers to " + pod, () -> agents.answered(pod) >= before + more);
  }

  private static void await(String what, BooleanSupplier condition) {
    // Retries wait longer each time, and a machine may have much else to do.
    long end = System.nanoTime() + 600_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
