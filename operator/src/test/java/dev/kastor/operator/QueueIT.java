package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueStatus;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.SlotCount;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queues of a cohort, each with a quota of two, on nodes of eight slots together. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class QueueIT {
  private static final String NAMESPACE = "team";

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  @Inject MovableClock clock;

  private final KubernetesClient client = FakeApiServer.client();
  private FakeAgents agents;
  private String one;
  private String two;
  private String three;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    for (String node : List.of("n1", "n2")) {
      client
          .nodes()
          .resource(
              new NodeBuilder()
                  .withNewMetadata()
                  .withName(node)
                  .addToLabels("kubernetes.io/hostname", node)
                  .endMetadata()
                  .withNewStatus()
                  .withAllocatable(Map.of("kastor.dev/slot", new Quantity("4")))
                  .endStatus()
                  .build())
          .createOr(existing -> existing.update());
    }
    long unique = System.nanoTime();
    one = "one" + unique;
    two = "two" + unique;
    three = "three" + unique;
  }

  @AfterEach
  void removeAll() {
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).delete();
    await(
        "no pods are left", () -> client.pods().inNamespace(NAMESPACE).list().getItems().isEmpty());
    client.resources(Queue.class).delete();
    client.nodes().withName("n2").delete();
    agents.close();
  }

  @Test
  void aQueueBorrowsAndTheOtherHasItsQuotaBack() throws Exception {
    queue("red", "{cohort: all, quota: {gpus: 2}}");
    queue("blue", "{cohort: all, quota: {gpus: 2}}");
    double before = waitsOfBlue();
    submit(one, "red");
    await("the first runs", () -> phase(one) == Phase.Running);
    submit(two, "red");
    await("the second runs on what blue leaves", () -> phase(two) == Phase.Running);
    await("red says that it borrows", () -> status("red").gpusBorrowed() == 2);
    await("blue says that it lends", () -> status("blue").gpusLent() == 2);
    assertThat(reason(status("red").conditions(), "WithinQuota")).isEqualTo("Borrowing");
    JsonNode row = row("red");
    assertThat(row.path("nominal").asInt()).isEqualTo(2);
    assertThat(row.path("borrowed").asInt()).isEqualTo(2);

    submit(three, "blue");
    await(
        "blue has its quota back",
        () -> {
          assertThat(pods())
              .as("pods of the cohort, those that leave included")
              .isLessThanOrEqualTo(4);
          return phase(three) == Phase.Running;
        });
    await(
        "one of red waits for quota",
        () -> List.of(waits(one), waits(two)).contains("WaitingForQuota"));
    await("red borrows no more", () -> status("red").gpusBorrowed() == 0);
    assertThat(status("red").gpusUsed()).isEqualTo(2);
    await("red has one that waits", () -> status("red").pendingJobs() == 1);
    assertThat(waitsOfBlue() - before)
        .as("waits that ended, however often the start was held back")
        .isEqualTo(1);
    await(
        "an event says why",
        () ->
            client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
                .anyMatch(event ->
                    event.getReason().equals("Reclaimed")
                        && event.getMessage().contains("cohort all")));
  }

  @Test
  void aJobWaitsForAQueueThatDoesNotHaveIt() {
    submit(one, "missing");
    await("it says so", () -> waits(one).equals("QueueNotFound"));
    assertThat(message(one))
        .contains("spec.queue is missing")
        .contains("kubectl get queues.kastor.dev");
    queue("missing", "{namespaces: [other]}");
    await("it is not let in", () -> waits(one).equals("QueueNotAllowed"));
    assertThat(message(one)).contains("does not list namespace team");
    assertThat(client.pods().inNamespace(NAMESPACE).list().getItems()).isEmpty();
    patch("missing", "{\"spec\": {\"namespaces\": [\"other\", \"team\"]}}");
    await("it runs", () -> phase(one) == Phase.Running);
  }

  @Test
  void aQueueIsHeldAndDrained() {
    queue("red", "{stopPolicy: Hold}");
    submit(one, "red");
    await("it is held", () -> waits(one).equals("QueueHeld"));
    await("the queue says so", () -> reason(status("red").conditions(), "Active").equals("Held"));
    patch("red", "{\"spec\": {\"stopPolicy\": \"None\"}}");
    await("it runs", () -> phase(one) == Phase.Running);
    patch("red", "{\"spec\": {\"stopPolicy\": \"HoldAndDrain\"}}");
    await("it stops", () -> waits(one).equals("QueueDrained"));
    await(
        "the queue says so", () -> reason(status("red").conditions(), "Active").equals("Drained"));
  }

  @Test
  void aQueueStopsWhenItsBudgetIsSpent() throws Exception {
    // Two GPUs hold so much in five minutes.
    queue("red", "{budget: {gpuHours: 0.166, period: Month}}");
    submit(one, "red");
    await("it runs", () -> phase(one) == Phase.Running);
    clock.advance(Duration.ofMinutes(5));
    await("it stops", () -> waits(one).equals("BudgetSpent"));
    assertThat(message(one))
        .contains("Queue red has spent its budget of 0.166 GPU-hours a month")
        .containsPattern("go on from their checkpoints at \\d{4}-\\d\\d-01T00:00:00Z");
    await(
        "the queue says so",
        () ->
            reason(status("red").conditions(), "WithinBudget").equals("BudgetSpent")
                && status("red").budgetUsedPercent() >= 100);
    assertThat(row("red").path("budgetUsed").asDouble()).isGreaterThanOrEqualTo(0.166);
    assertThat(row("red").path("budgetUntil").asText()).endsWith("-01T00:00:00Z");
    assertThat(
            PlainHttp.metric(plain, "kastor_queue_budget_gpu_hours{queue=\"red\",state=\"used\",}"))
        .isGreaterThanOrEqualTo(0.166);
    patch("red", "{\"spec\": {\"budget\": {\"gpuHours\": 100}}}");
    await("it goes on", () -> phase(one) == Phase.Running);
    patch("red", "{\"spec\": {\"budget\": {\"gpuHours\": 0, \"onExceeded\": \"LowerPriority\"}}}");
    await(
        "it goes on as long as nobody else comes",
        () ->
            phase(one) == Phase.Running
                && last(job(one).conditions(), "PriorityLimited") != null
                && last(job(one).conditions(), "PriorityLimited")
                    .getMessage()
                    .contains("come after all others")
                && reason(job(one).conditions(), "PriorityLimited").equals("BudgetSpent"));
  }

  @Test
  void aJobThatNamesNoQueueIsUnderTheQuotaOfTheDefaultOne() {
    queue(Queue.DEFAULT, "{quota: {gpus: 1}}");
    submit(one, null);
    await("it is too large", () -> waits(one).equals("ExceedsQuota"));
    assertThat(message(one)).contains("queue default may never hold more than 1");
  }

  @Test
  void aJobThatMovesWithinAFullQuotaNeverHoldsBothPlaces() {
    queue("red", "{quota: {gpus: 2}}");
    submit(one, "red");
    await("it runs", () -> phase(one) == Phase.Running);
    List<String> before = nodes();
    leave(before.getFirst());
    await(
        "it runs on the other node",
        () -> {
          assertThat(pods()).as("pods, those that leave included").isLessThanOrEqualTo(2);
          List<String> now = nodes();
          return phase(one) == Phase.Running
              && now.size() == 2
              && !now.contains(before.getFirst())
              && job(one).allocation().replicas() == 2;
        });
    assertThat(job(one).allocation().atMost()).isEqualTo(2);
    assertThat(job(one).failuresSinceProgress()).isZero();
  }

  @Test
  void aJobThatMovesWithinAQuotaWithRoomTrainsOnMeanwhile() {
    queue("red", "{quota: {gpus: 4}}");
    submit(one, "red");
    await("it runs", () -> phase(one) == Phase.Running);
    String before = nodes().getFirst();
    leave(before);
    await("it runs on the other node", () -> nodes().size() == 2 && !nodes().contains(before));
    assertThat(job(one).allocation().atMost()).isEqualTo(4);
    assertThat(job(one).generation()).as("it was not stopped in between").isEqualTo(2);
  }

  @Test
  void aPinKeepsNothingFromTheLender() {
    queue("red", "{cohort: all, quota: {gpus: 2}}");
    queue("blue", "{cohort: all, quota: {gpus: 2}}");
    submit(one, "red");
    submit(two, "red");
    await("both run", () -> phase(one) == Phase.Running && phase(two) == Phase.Running);
    annotate(one, Pin.ANNOTATION, Pin.HERE);
    annotate(two, Pin.ANNOTATION, Pin.HERE);
    submit(three, "blue");
    await("blue has its quota back", () -> phase(three) == Phase.Running);
    await("an event says why", () -> events().contains("PinIgnored"));
  }

  @Test
  void aJobThatNamesAQueueThatRefusesItStaysInItsOwn() {
    queue("red", "{cohort: all, quota: {gpus: 2}}");
    queue("blue", "{cohort: all, quota: {gpus: 2}, namespaces: [team]}");
    queue("foreign", "{quota: {gpus: 2}, namespaces: [other]}");
    submit(one, "red");
    submit(two, "red");
    await("both run", () -> phase(one) == Phase.Running && phase(two) == Phase.Running);
    move(one, "nowhere");
    move(two, "foreign");
    await(
        "two events say so",
        () -> events().containsAll(Set.of("QueueNotFound", "QueueNotAllowed")));
    assertThat(status("foreign").gpusUsed()).isZero();
    submit(three, "blue");
    await("blue has its quota back", () -> phase(three) == Phase.Running);
    await("red holds its own", () -> status("red").gpusUsed() == 2);
  }

  private void annotate(String job, String key, String value) {
    patchJob(job, "{\"metadata\": {\"annotations\": {\"%s\": \"%s\"}}}".formatted(key, value));
  }

  private void move(String job, String queue) {
    patchJob(job, "{\"spec\": {\"queue\": \"%s\"}}".formatted(queue));
  }

  private void patchJob(String job, String patch) {
    client
        .resources(TrainingJob.class)
        .inNamespace(NAMESPACE)
        .withName(job)
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private Set<String> events() {
    return client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(event -> Set.of(one, two, three).contains(event.getInvolvedObject().getName()))
        .map(Event::getReason)
        .collect(Collectors.toSet());
  }

  private double waitsOfBlue() {
    return PlainHttp.metric(plain, "kastor_queue_wait_seconds_count{queue=\"blue\",}");
  }

  /** A notice that the node is about to go. */
  private void leave(String node) {
    client
        .nodes()
        .withName(node)
        .edit(now ->
            new NodeBuilder(now)
                .editOrNewSpec()
                .addNewTaint()
                .withKey("aws-node-termination-handler/spot-itn")
                .withEffect("NoSchedule")
                .endTaint()
                .endSpec()
                .build());
  }

  /** Nodes of the pods, one for each. */
  private List<String> nodes() {
    return client.pods().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(SlotCount::occupies)
        .map(PodPlace::meant)
        .toList();
  }

  /** Pods that hold a slot. */
  private int pods() {
    return (int)
        client.pods().inNamespace(NAMESPACE).list().getItems().stream()
            .filter(SlotCount::occupies)
            .count();
  }

  private void queue(String name, String spec) {
    client
        .resource(
            Serialization.unmarshal(
                "apiVersion: kastor.dev/v1alpha1\nkind: Queue\nmetadata: {name: %s}\nspec: %s"
                    .formatted(name, spec),
                Queue.class))
        .create();
  }

  private void patch(String queue, String patch) {
    client
        .resources(Queue.class)
        .withName(queue)
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private void submit(String name, String queue) {
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: kastor.dev/v1alpha1
                kind: TrainingJob
                metadata: {name: %s, namespace: %s}
                spec:
                  %s
                  elastic: {minReplicas: 2, maxReplicas: 2}
                  goodput:
                    batchSize: {initial: 32}
                    learningRate: {base: "0.1"}
                    work: {epochs: 1}
                  program: {name: glyph-mlp}
                """
                    .formatted(name, NAMESPACE, queue == null ? "" : "queue: " + queue),
                TrainingJob.class))
        .create();
  }

  private QueueStatus status(String queue) {
    QueueStatus status = client.resources(Queue.class).withName(queue).get().getStatus();
    return status == null ? new QueueStatus(0L, 0, 0, 0, 0, 0, null, null, List.of()) : status;
  }

  private TrainingJobStatus job(String name) {
    return client
        .resources(TrainingJob.class)
        .inNamespace(NAMESPACE)
        .withName(name)
        .get()
        .getStatus();
  }

  private Phase phase(String name) {
    return job(name) == null ? null : job(name).phase();
  }

  /** The reason for which a job waits; empty while it does not. */
  private String waits(String name) {
    return phase(name) == Phase.Queued ? reason(job(name).conditions(), "Queued") : "";
  }

  private String message(String name) {
    return last(job(name).conditions(), "Queued").getMessage();
  }

  private static String reason(List<Condition> conditions, String type) {
    Condition found = last(conditions, type);
    return found == null ? "" : found.getReason();
  }

  private static Condition last(List<Condition> conditions, String type) {
    return conditions.stream()
        .filter(condition -> type.equals(condition.getType()))
        // The mock server appends to lists where a merge patch replaces them.
        .reduce((first, second) -> second)
        .orElse(null);
  }

  private JsonNode row(String queue) throws Exception {
    var answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(plain.resolve("/api/v1/queues")).build(),
                HttpResponse.BodyHandlers.ofString());
    for (JsonNode row : new ObjectMapper().readTree(answer.body())) {
      if (row.path("name").asText().equals(queue)) {
        return row;
      }
    }
    throw new AssertionError("no queue %s in %s".formatted(queue, answer.body()));
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofMinutes(10).toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("after ten minutes it is still not so that " + what);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError(e);
      }
    }
  }
}
