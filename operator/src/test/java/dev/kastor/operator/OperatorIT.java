package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.start.StartPhase;
import dev.kastor.crds.start.StartTimes;
import dev.kastor.crds.trainingjob.BatchSizeSpec;
import dev.kastor.crds.trainingjob.ElasticSpec;
import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.LearningRateSpec;
import dev.kastor.crds.trainingjob.ProgramSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.crds.trainingjob.WorkSpec;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.protocol.Membership;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.testkit.GoldenFile;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
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
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class OperatorIT {
  private static final String NAMESPACE = "team";

  /** As in FakeApiServer. */
  private static final Duration LEAVE_GRACE = Duration.ofMinutes(10);

  @Inject AllocationWriter allocations;
  @Inject FamilyStore families;
  @Inject MovableClock clock;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  private final KubernetesClient client = FakeApiServer.client();
  private FakeAgents agents;
  private String name;

  @BeforeEach
  void startKubelet() {
    agents = new FakeAgents(client, api());
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
  }

  @AfterEach
  void removeJob() {
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).delete();
    await("no pods are left", () -> pods().isEmpty());
    agents.close();
  }

  @Test
  void replicasOfATemplateWithGoodputComeAndGo() {
    submit(
        TestJobs.ofTemplate(
            new ElasticSpec(1, 4, null),
            new GoodputSpec(null, new BatchSizeSpec(32, null, null, null), null, null)));
    await("it runs", () -> phase() == Phase.Running);
    allocate(3);
    await("three members train", () -> members() == 3);
    assertThat(pods())
        .allSatisfy(pod -> {
          assertThat(pod.getSpec().getHostname()).isNull();
          assertThat(pod.getSpec().getContainers())
              .extracting(Container::getImage)
              .containsExactly("trainer:1");
        });
    allocate(2);
    await("two members train", () -> members() == 2);
    agents.complete(name);
    await("it succeeds", () -> phase() == Phase.Succeeded);
    assertThat(status().training().finalMetric()).isEqualTo(0.9);
    assertThat(agents.started()).hasSize(3);
  }

  @Test
  void gangStartsAndRuns() {
    submit(2, 2);
    await("two members train", () -> members() == 2);
    await("it says Running", () -> phase() == Phase.Running);
    await("the summary is written", () -> status().training() != null);
    assertThat(status().generation()).isPositive();
    assertThat(agents.started()).containsExactlyInAnyOrder(name + "-0", name + "-1");
  }

  @Test
  void growsOnlyWhenAllAreReadyAndShrinksAtOnce() {
    submit(1, 4);
    await("it runs", () -> phase() == Phase.Running);
    int before = status().allocation().replicas();
    assertThat(before).isEqualTo(1);
    agents.mute(name + "-1");
    allocate(3);
    await("the new pods are there", () -> pods().size() == 3);
    await("one of them waits", () -> agents.started().size() == 3);
    assertThat(members()).isEqualTo(1);
    agents.unmute(name + "-1");
    await("three members train", () -> members() == 3);
    allocate(2);
    await("two members train", () -> members() == 2);
    await("the third pod is gone", () -> pods().size() == 2);
    assertThat(agents.started()).hasSize(3);
  }

  @Test
  void aReplicaThatDoesNotLeaveIsRemovedWhenItsTimeIsOver() {
    submit(1, 3);
    await("it runs", () -> phase() == Phase.Running);
    allocate(3);
    await("three members train", () -> members() == 3);
    agents.vanish(name + "-2");
    allocate(2);
    await("two members train", () -> members() == 2);
    assertThat(pods()).as("it may still leave by itself").hasSize(3);
    await(
        "the third pod is gone",
        () -> {
          clock.advance(LEAVE_GRACE);
          return pods().size() == 2;
        });
    await("two members train on", () -> members() == 2);
    assertThat(agents.started()).as("none was made again").hasSize(3);
  }

  @Test
  void survivorsGoOnWhileAFailedReplicaIsReplaced() {
    submit(1, 3);
    await("it runs", () -> phase() == Phase.Running);
    allocate(3);
    await("three members train", () -> members() == 3);
    long generation = status().generation();
    agents.crash(NAMESPACE, name + "-1", 137);
    await("a fourth pod joins", () -> agents.membership(name + "-3").isPresent());
    await("three members train again", () -> members() == 3);
    assertThat(status().generation()).isGreaterThan(generation);
    await(
        "progress forgives the failure",
        () -> status().failuresSinceProgress() == 0 && pods().size() == 3);
    assertThat(phase()).isEqualTo(Phase.Running);
  }

  @Test
  void aBatchThatDidNotFitIsNotGivenAgain() {
    submit(1, 1);
    await("it trains with its initial batch", () -> atomicBatch(name + "-0") == 32);
    assertThat(largestPass(name + "-0")).as("as the job has it").isEqualTo(256);
    agents.outOfMemory(NAMESPACE, name + "-0", 32);
    await("its replacement has half of it", () -> atomicBatch(name + "-1") == 16);
    agents.outOfMemory(NAMESPACE, name + "-1", 16);
    await("the next has a quarter", () -> atomicBatch(name + "-2") == 8);
    assertThat(largestPass(name + "-2")).as("what it may try while it starts").isEqualTo(8);
    Membership membership = agents.membership(name + "-2").orElseThrow();
    assertThat(membership.batchPlan().globalBatchSize(1)).as("in passes").isEqualTo(32);
    await("it is stored", () -> fits(Map.of("", 8)));
    assertThat(events())
        .anySatisfy(event -> {
          assertThat(event.getReason()).isEqualTo("OutOfMemory");
          assertThat(event.getMessage())
              .contains("ran out of memory at 32 examples a pass")
              .contains("at most 16")
              .contains("goodput.batchSize.perDevice.max");
        });
  }

  private boolean fits(Map<String, Integer> most) {
    TrainingStatus training = status().training();
    return training != null && most.equals(training.mostExamples());
  }

  @Test
  void membersGoOnWithABatchThatFitsAsSoonAsTheySayWhatDoes() {
    submit(2, 2);
    // Its initial batch is 16 a replica; a better one may be found before we look.
    await("it trains with more", () -> members() == 2 && atomicBatch(name + "-0") > 5);
    agents.fits(name, 5);
    await("it trains with less", () -> members() == 2 && atomicBatch(name + "-0") <= 5);
    assertThat(agents.started()).as("nobody was replaced").hasSize(2);
    await("it is stored", () -> fits(Map.of("", 5)));
  }

  @Test
  void clientsAreNamedInTheStatus() {
    agents.client(name, "mine/3%20protocol/9");
    submit(1, 1);
    await("it runs", () -> phase() == Phase.Running);
    assertThat(status().clients()).containsExactly("mine/3 protocol/9");
    await("a newer one is told of", () -> told("ClientNewer").contains("version 2"));
    assertThat(told("ClientUnknown")).isEmpty();
  }

  @Test
  void aClientWithoutANameIsToldOf() {
    agents.client(name, "");
    submit(1, 1);
    await("it is told of", () -> told("ClientUnknown").contains("client of the agent protocol"));
    await("it runs all the same", () -> phase() == Phase.Running);
    assertThat(status().clients()).isNull();
  }

  /** Largest batch of a pass in the spec that a pod was given. */
  private int largestPass(String pod) {
    String spec =
        client
            .pods()
            .inNamespace(NAMESPACE)
            .withName(pod)
            .get()
            .getSpec()
            .getContainers()
            .getFirst()
            .getEnv()
            .stream()
            .filter(variable -> variable.getName().equals("KASTOR_JOB_SPEC"))
            .findFirst()
            .orElseThrow()
            .getValue();
    return Serialization.unmarshal(spec, TrainingJobSpec.class)
        .goodputOrThrow()
        .batchSize()
        .perDevice()
        .max();
  }

  private int atomicBatch(String pod) {
    return agents.membership(pod).map(now -> now.batchPlan().atomicBatchSize()).orElse(0);
  }

  private static boolean ofSuspension(Event event) {
    return event.getReason().equals("Suspended");
  }

  private List<Event> events() {
    return client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(event -> name.equals(event.getInvolvedObject().getName()))
        .toList();
  }

  private String told(String reason) {
    return events().stream()
        .filter(event -> reason.equals(event.getReason()))
        .map(Event::getMessage)
        .findFirst()
        .orElse("");
  }

  /** Exit code 0 without a word is no success: its replacement would end so again, at once. */
  @ParameterizedTest
  @ValueSource(ints = {1, 0})
  void givesUpAfterFailuresWithoutProgress(int exitCode) {
    for (int pod = 0; pod < 4; pod++) {
      agents.mute(name + "-" + pod);
    }
    submit(1, 1);
    for (int failures = 0; failures < 3; failures++) {
      String pod = name + "-" + failures;
      await(pod + " starts", () -> agents.started().contains(pod));
      agents.crash(NAMESPACE, pod, exitCode);
    }
    await("the job fails", () -> phase() == Phase.Failed);
    assertThat(condition("Failed").getReason()).isEqualTo("TooManyFailures");
    await("its slots are free", () -> status().allocation().replicas() == 0);
  }

  @Test
  void permanentFailureIsNotRetried() {
    agents.mute(name + "-0");
    submit(1, 1);
    await("it starts", () -> agents.started().contains(name + "-0"));
    agents.crash(NAMESPACE, name + "-0", 64);
    await("the job fails", () -> phase() == Phase.Failed);
    assertThat(condition("Failed").getReason()).isEqualTo("ProgramFailed");
    assertThat(agents.started()).hasSize(1);
  }

  @Test
  void suspendsAndResumes() {
    submit(2, 2);
    await("it runs", () -> phase() == Phase.Running);
    suspend(true);
    await("it is suspended", () -> phase() == Phase.Suspended);
    await("its pods are gone", () -> pods().isEmpty());
    assertThat(status().allocation().replicas()).isZero();
    await("an event says so", () -> events().stream().anyMatch(OperatorIT::ofSuspension));
    suspend(false);
    await("it runs again", () -> phase() == Phase.Running && members() == 2);
    assertThat(status().restarts()).isEqualTo(1);
    assertThat(events())
        .as("events of the suspension")
        .filteredOn(OperatorIT::ofSuspension)
        .hasSize(1);
    assertThat(agents.started())
        .as("pod numbers are not used again")
        .containsExactlyInAnyOrder(name + "-0", name + "-1", name + "-2", name + "-3");
  }

  @Test
  void noPodIsStartedForNothingWhenSuspended() {
    submit(2, 2);
    for (int round = 0; round < 6; round++) {
      await("it runs", () -> phase() == Phase.Running && members() == 2);
      suspend(true);
      await(
          "it is suspended and its pods are gone",
          () -> phase() == Phase.Suspended && pods().isEmpty());
      suspend(false);
    }
    await("it runs again", () -> phase() == Phase.Running && members() == 2);
    assertThat(agents.started()).as("two pods for each start").hasSize(14);
  }

  @Test
  void completesWithItsMetric() {
    submit(2, 2);
    await("it runs", () -> phase() == Phase.Running);
    agents.complete(name);
    await("it succeeds", () -> phase() == Phase.Succeeded);
    assertThat(status().training().finalMetric()).isEqualTo(0.9);
    assertThat(status().training().metricName()).isEqualTo("accuracy");
    assertThat(status().training().percent()).isEqualTo(100);
    assertThat(status().completionTime()).isNotNull();
    await("its slots are free", () -> status().allocation().replicas() == 0);
    assertThat(condition("Complete").getStatus()).isEqualTo("True");
  }

  @Test
  void whatAJobTaughtItsFamilyIsInTheCluster() {
    submit(2, 2);
    await("it runs", () -> phase() == Phase.Running);
    await("it reported", () -> status().training() != null);
    agents.complete(name);
    await("it succeeds", () -> phase() == Phase.Succeeded);
    families.write();
    var stored = client.configMaps().inNamespace("default").withName(FamilyStore.NAME).get();
    assertThat(stored.getData().get(FamilyStore.KEY)).contains("team/").contains("glyph-mlp");
  }

  @Test
  void deletionLeavesNothingBehind() {
    submit(2, 2);
    await("it runs", () -> phase() == Phase.Running);
    assertThat(client.secrets().inNamespace(NAMESPACE).withName(name + "-ring").get()).isNotNull();
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name).delete();
    await("its pods are gone", () -> pods().isEmpty());
    await(
        "its secret is gone",
        () -> client.secrets().inNamespace(NAMESPACE).withName(name + "-ring").get() == null);
  }

  @Test
  void refusesWhatIsNotAReportOfTheCaller() throws Exception {
    submit(1, 1);
    await("it runs", () -> phase() == Phase.Running);
    String pod = name + "-0";
    String token = FakeApiServer.token(NAMESPACE, name, pod);
    String path = "/v1/jobs/%s/%s/telemetry".formatted(NAMESPACE, name);
    AgentClient api = api();

    assertThat(api.post(path, token, report(name, pod, "1.5")).statusCode()).isEqualTo(204);
    var nan = api.post(path, token, report(name, pod, "NaN"));
    assertThat(nan.statusCode()).isEqualTo(400);
    var infinite = api.post(path, token, report(name, pod, "1e999"));
    assertThat(infinite.statusCode()).isEqualTo(400);
    assertThat(infinite.body()).contains("progress.scaleInvariantSteps").contains("finite");
    var text = api.post(path, token, report(name, pod, "\"NaN\""));
    assertThat(text.statusCode()).isEqualTo(400);
    assertThat(text.body()).contains("progress.scaleInvariantSteps");
    var unknown =
        api.post(path, token, replaced(name, pod, "\"epoch\": 0", "\"epoch\": 0, \"stop\": 1"));
    assertThat(unknown.statusCode()).isEqualTo(400);
    assertThat(unknown.body()).contains("progress.stop");
    var missing = api.post(path, token, replaced(name, pod, "\"sequence\": 1000000,", ""));
    assertThat(missing.statusCode()).isEqualTo(400);
    assertThat(missing.body()).contains("sequence");
    var nothing =
        api.post(path, token, replaced(name, pod, "\"profiles\": []", "\"profiles\": null"));
    assertThat(nothing.statusCode()).isEqualTo(400);
    assertThat(nothing.body()).contains("profiles");

    assertThat(api.post(path, token, new byte[1 << 17]).statusCode()).isEqualTo(413);
    assertThat(api.post(path, token, new byte[1 << 20]).statusCode()).isEqualTo(413);
    assertThat(api.post(path, "", report(name, pod, "1")).statusCode()).isEqualTo(401);
    assertThat(api.post(path, "wrong", report(name, pod, "1")).statusCode()).isEqualTo(401);
    assertThat(api.post(path, token, report("other", pod, "1")).statusCode()).isEqualTo(403);
    assertThat(api.post(path, token, report(name, "other", "1")).statusCode()).isEqualTo(403);
    String foreign = FakeApiServer.token(NAMESPACE, name, "foreign-pod");
    assertThat(api.post(path, foreign, report(name, "foreign-pod", "1")).statusCode())
        .isEqualTo(403);
    String gone = "/v1/jobs/%s/gone/telemetry".formatted(NAMESPACE);
    String goneToken = FakeApiServer.token(NAMESPACE, "gone", pod);
    assertThat(api.post(gone, goneToken, report("gone", pod, "1")).statusCode()).isEqualTo(404);
  }

  @Test
  void theStartOfAReplicaIsInTheStatus() throws Exception {
    submit(1, 1);
    await("it runs", () -> phase() == Phase.Running);
    String pod = name + "-0";
    assertThat(said(pod, "PEERS").statusCode()).isEqualTo(400);
    assertThat(said(pod, "PEERS").body()).contains("start must be", "'PEERS'");
    assertThat(said(pod, "CHECKPOINT,99999999,400").statusCode()).isEqualTo(200);
    await(
        "its start is told",
        () -> starts().stream().anyMatch(start -> start.source().equals("checkpoint")));
    // The mock server appends to lists where a merge patch replaces them: what was known of the
    // start before may stand first.
    StartTimes start = starts().getLast();
    assertThat(start.source()).isEqualTo("checkpoint");
    assertThat(start.pod()).isEqualTo(pod);
    assertThat(start.millis().get(StartPhase.STATE)).as("its word is cut").isLessThan(6_000_000);
    assertThat(start.millis().get(StartPhase.FIRST_STEP)).isBetween(0L, 400L);
  }

  private HttpResponse<String> said(String pod, String start) throws Exception {
    return api()
        .get(
            "/v1/jobs/%s/%s/membership?pod=%s&address=127.0.0.1:1234&generation=%d&phase=TRAINING&step=1&start=%s"
                .formatted(NAMESPACE, name, pod, status().generation(), start),
            FakeApiServer.token(NAMESPACE, name, pod));
  }

  private List<StartTimes> starts() {
    List<String> lines = status().starts();
    return lines == null
        ? List.of()
        : lines.stream().map(line -> StartTimes.parse(line).orElseThrow()).toList();
  }

  @Test
  void agentApiIsNotServedInTheClear() throws Exception {
    var http = HttpClient.newHttpClient();
    var answer =
        http.send(
            HttpRequest.newBuilder(plain.resolve("/v1/jobs/a/b/membership")).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body()).contains("HTTPS");
    var metrics =
        http.send(
            HttpRequest.newBuilder(plain.resolve("/metrics")).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(metrics.body()).contains("kastor_jobs").contains("kastor_decision_seconds");
  }

  /**
   * The copies are those of the documentation and of the kit that tests clients. Run with {@code
   * -Dkastor.golden.write=true} to rewrite them.
   */
  @ParameterizedTest
  @CsvSource({
    "yaml, docs/agent-api.yaml",
    "json, python/src/kastor/conformance/agent-api.json",
  })
  void copiesOfTheApiAreAsServed(String format, String file) throws Exception {
    var served =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(plain.resolve("/q/openapi?format=" + format)).build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(served.body()).contains("/v1/jobs/{namespace}/{name}/membership");
    GoldenFile.ofRepository(file).holds(served.body());
  }

  private AgentClient api() {
    String url = base.toString();
    return new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
  }

  private byte[] report(String job, String pod, String progress) {
    return body(job, pod, progress).getBytes(UTF_8);
  }

  private byte[] replaced(String job, String pod, String what, String with) {
    String body = body(job, pod, "1");
    assertThat(body).contains(what);
    return body.replace(what, with).getBytes(UTF_8);
  }

  private static String body(String job, String pod, String progress) {
    return """
    {"namespace": "%s", "job": "%s", "pod": "%s", "generation": 1, "sequence": 1000000,
     "replicas": 1, "batch": {"atomicBatchSize": 32, "accumulationSteps": 0}, "profiles": [],
     "progress": {"step": 1, "scaleInvariantSteps": %s, "totalScaleInvariantSteps": 100,
                  "examples": 32, "epoch": 0},
     "switches": []}
    """
        .formatted(NAMESPACE, job, pod, progress);
  }

  private void allocate(int replicas) {
    allocations.write(
        job(), Allocation.on("n1", replicas), null, Reason.of("Test", "The test wants it so."));
  }

  private void suspend(boolean suspend) {
    client
        .resources(TrainingJob.class)
        .inNamespace(NAMESPACE)
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"suspend\": %s}}".formatted(suspend));
  }

  private Condition condition(String type) {
    return status().conditions().stream()
        .filter(condition -> type.equals(condition.getType()))
        // The mock server appends to lists where a merge patch replaces them.
        .reduce((first, last) -> last)
        .orElseThrow();
  }

  private void submit(int min, int max) {
    submit(
        new TrainingJobSpec(
            false,
            null,
            null,
            null,
            new ElasticSpec(min, max, null),
            new GoodputSpec(
                null,
                new BatchSizeSpec(32, null, null, null),
                new LearningRateSpec("0.1", null),
                new WorkSpec(1L, null, null)),
            null,
            new FaultToleranceSpec(2, 0, 1),
            new ProgramSpec("glyph-mlp", Map.of())));
  }

  private void submit(TrainingJobSpec spec) {
    var job = new TrainingJob();
    job.getMetadata().setName(name);
    job.getMetadata().setNamespace(NAMESPACE);
    job.setSpec(spec);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).resource(job).create();
  }

  private TrainingJob job() {
    return client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name).get();
  }

  private TrainingJobStatus status() {
    return job().getStatus();
  }

  private Phase phase() {
    TrainingJob job = job();
    return job == null || job.getStatus() == null ? null : job.getStatus().phase();
  }

  private List<Pod> pods() {
    return client.pods().inNamespace(NAMESPACE).withLabel("kastor.dev/job", name).list().getItems();
  }

  /** Members that agree on one generation; 0 while they do not. */
  private int members() {
    List<Membership> seen =
        pods().stream()
            .flatMap(pod -> agents.membership(pod.getMetadata().getName()).stream())
            .distinct()
            .toList();
    return seen.size() == 1 ? seen.getFirst().members().size() : 0;
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
