package dev.kastor.operator.web;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.FakeApiServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.Reports;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.scheduling.Decisions;
import dev.kastor.operator.scheduling.StandingAdvice;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.restassured.path.json.JsonPath;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@QuarkusTest
@TestProfile(PageProfile.class)
@QuarkusTestResource(FakeApiServer.class)
@Tag("slow")
class OverviewResourceTest {
  private static final Duration REQUEST_LIMIT = Duration.ofSeconds(10);
  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");
  private static final String RUNNING =
      """
      phase: Running
      startTime: "2026-01-01T00:00:05Z"
      restarts: 1
      allocation: {replicas: 3, nodes: {n1: 2, n2: 1}, version: 2, since: "2026-01-01T00:01:00Z", reason: Grow, message: two slots became free}
      training: {step: 10, scaleInvariantMillisteps: 9000, percent: 12, examples: 640, epoch: 0, eta: "2026-01-01T00:09:00Z", globalBatch: 128, atomicBatch: 32, accumulationSteps: 0, goodput: 100.5, throughput: 120, efficiency: 0.84, rescales: 3, grows: 2, shrinks: 1, medianPauseMillis: 80, maxPauseMillis: 120, minReplicas: 1, maxReplicas: 3, minGlobalBatch: 64, maxGlobalBatch: 128, predictedGoodput: {"1": 50, "2": 90.5}}
      """;

  @Inject KubernetesClient client;
  @Inject JobHistory history;
  @Inject StandingAdvice advice;
  @Inject Decisions decisions;

  @ConfigProperty(name = "quarkus.http.test-port")
  int port;

  @AfterEach
  void empty() throws InterruptedException {
    new TestCluster(client).deleteAll();
    await(json -> json.getList("jobs").isEmpty() && json.getList("cluster.nodes").isEmpty());
  }

  @Test
  void tellsHowManyNodesThereShouldBe() {
    JobState gang =
        JobMapper.state(
            TestJobs.job("bert", 6, 6, GoodputSpec.Mode.Fixed),
            null,
            Measured.NOTHING,
            true,
            false,
            CREATED.plusSeconds(60));
    List<Node> one = List.of(new Node("n1", "a100", 4, "", false, 2.5));
    advice.observe(new Snapshot(CREATED.plusSeconds(60), one, List.of(gang)));
    given()
        .port(port)
        .get("/api/v1/overview")
        .then()
        .body("cluster.advice[0].gpuType", equalTo("a100"))
        .body("cluster.advice[0].nodes", equalTo(1))
        .body("cluster.advice[0].advised", equalTo(2))
        .body("cluster.advice[0].reason", equalTo("TooFewToRun"))
        .body("cluster.advice[0].message", containsString("1 nodes of type a100 should become 2"))
        .body("cluster.advice[0].numbers.advisedPricePerHour", equalTo(5.0f));
    given()
        .port(port)
        .get("/metrics")
        .then()
        .body(containsString("kastor_advised_nodes{gpu_type=\"a100\",} 2.0"));
  }

  @Test
  void curvesThatAnEarlierOperatorStoredAreShown() throws InterruptedException {
    String curves = "1 1767225600\\ns 0 0 2.5 640 600 - 0.05 32 0 2\\nm accuracy 3 30 0.5";
    new TestCluster(client)
        .job("kept", "glyph-mlp", 1, 4, CREATED, RUNNING + "curves: \"" + curves + "\"\n");
    await(json -> json.getList("jobs.name").contains("kept"));
    given()
        .port(port)
        .get("/api/v1/jobs/default/kept/history")
        .then()
        .body("series.epochMillis", equalTo(List.of(1767225600000L)))
        .body("series.loss[0]", equalTo(2.5f))
        .body("series.globalBatch[0]", equalTo(64))
        .body("scalars.accuracy.step", equalTo(List.of(30)))
        .body("scalars.accuracy.value[0]", equalTo(0.5f));
  }

  @Test
  void tellsWhatTheNewestRoundDecidedAndTheQueues() throws InterruptedException {
    JobId job = new JobId("team", "bert");
    JobState waiting =
        JobMapper.state(
            TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive),
            null,
            Measured.NOTHING,
            true,
            false,
            CREATED);
    Snapshot snapshot =
        new Snapshot(CREATED, List.of(new Node("n1", "", 1)), List.of(waiting), Map.of());
    SequencedMap<JobId, Plan.Assignment> plan = new LinkedHashMap<>();
    SequencedMap<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("bidPerSlot", 0.5);
    numbers.put("pricePerSlot", Double.NaN);
    Reason why = new Reason("Waiting", "Other jobs gain more from the GPUs.", numbers);
    plan.put(job, new Plan.Assignment(Allocation.NONE, why));
    decisions.decided(new Round(snapshot, new Plan(plan), List.of(), List.of(), 0));
    given()
        .port(port)
        .get("/api/v1/jobs/team/bert/decision")
        .then()
        .body("reason", equalTo("Waiting"))
        .body("at", equalTo("2026-01-01T00:00:00Z"))
        .body("numbers.bidPerSlot", equalTo(0.5f))
        .body("numbers.size()", equalTo(1));
    given().port(port).get("/api/v1/jobs/team/other/decision").then().statusCode(404);
    new TestCluster(client).node("n1", 2).job("a", "glyph-mlp", 1, 4, CREATED, RUNNING);
    await(json -> json.getList("jobs").size() == 1 && json.getInt("cluster.slotsTotal") == 2);
    given()
        .port(port)
        .get("/api/v1/queues")
        .then()
        .body("[0].name", equalTo(""))
        .body("[0].running", equalTo(1))
        .body("[0].slotsHeld", equalTo(3))
        .body("[0].slotsDeserved", equalTo(2.0f));
  }

  @Test
  void tellsSlotsPolicyAndJobs() throws InterruptedException {
    new TestCluster(client)
        .node("n1", 2)
        .node("n2", 2)
        .job("a", "glyph-mlp", 1, 4, CREATED, RUNNING);

    JsonPath seen =
        await(
            json -> json.getList("jobs").size() == 1 && json.getList("cluster.nodes").size() == 2);

    assertThat(seen.getString("cluster.policy")).isNotBlank();
    assertThat(seen.getInt("cluster.slotsUsed")).isEqualTo(3);
    assertThat(seen.getInt("cluster.slotsTotal")).isEqualTo(4);
    assertThat(seen.getInt("cluster.nodes[0].slotsUsed")).isEqualTo(2);
    assertThat(seen.getString("jobs[0].namespace")).isEqualTo("default");
    assertThat(seen.getString("jobs[0].phase")).isEqualTo("Running");
    assertThat(seen.getInt("jobs[0].replicas")).isEqualTo(3);
    assertThat(seen.getInt("jobs[0].minReplicas")).isEqualTo(1);
    assertThat(seen.getInt("jobs[0].maxReplicas")).isEqualTo(4);
    assertThat(seen.getInt("jobs[0].batch.global")).isEqualTo(128);
    assertThat(seen.getDouble("jobs[0].goodput")).isEqualTo(100.5);
    assertThat(seen.getDouble("jobs[0].percent")).isEqualTo(12);
    assertThat(seen.getString("jobs[0].message")).isEqualTo("two slots became free");
    assertThat(seen.getInt("jobs[0].medianPauseMillis")).isEqualTo(80);
    assertThat(seen.getDouble("jobs[0].predictedGoodput.'2'")).isEqualTo(90.5);
    assertThat(seen.getInt("jobs[0].restarts")).isEqualTo(1);
  }

  @Test
  void prefersTheNewestReportOfARunningJobToItsSummary() throws InterruptedException {
    new TestCluster(client).job("fresh", "glyph-mlp", 1, 4, CREATED, RUNNING);
    JobId id = new JobId("default", "fresh");
    Reports reports = Reports.of(id).size(2, new BatchPlan(32, 0)).gradient(1, 3);
    history.reported(id, reports.step(100).loss(1.5), Optional.empty(), CREATED);
    history.reported(id, reports.step(500).loss(0.25), Optional.empty(), CREATED.plusSeconds(100));

    JsonPath seen = await(json -> json.getList("jobs").size() == 1);

    assertThat(seen.getDouble("jobs[0].loss")).isEqualTo(0.25);
    assertThat(seen.getDouble("jobs[0].throughput")).isEqualTo(4 * 64);
    assertThat(seen.getInt("jobs[0].trainingReplicas")).isEqualTo(2);
    assertThat(seen.getInt("jobs[0].step")).isEqualTo(500);
    assertThat(seen.getDouble("jobs[0].percent")).isEqualTo(80);
  }

  @Test
  void givesAJobsHistoryAsColumns() {
    JobId id = new JobId("default", "past");
    history.allocated(id, Allocation.on("n1", 2), Reason.of("Start", "a slot was free"), CREATED);
    history.reported(
        id, Reports.of(id).step(5).loss(null), Optional.empty(), CREATED.plusMillis(7));
    history.reported(
        id,
        Reports.of(id).step(9).logged(0.5, Map.of("val/acc", 0.75)),
        Optional.empty(),
        CREATED.plusMillis(9));
    history.phase(id, Phase.Succeeded, CREATED.plusMillis(10));

    JsonPath seen = given().get("/api/v1/jobs/default/past/history").jsonPath();

    assertThat(seen.getList("series.epochMillis", Long.class))
        .containsExactly(CREATED.toEpochMilli() + 7, CREATED.toEpochMilli() + 9);
    assertThat(seen.getList("series.loss", Double.class)).containsExactly(null, 0.5);
    assertThat(seen.getList("series.globalBatch", Integer.class)).containsExactly(64, 64);
    assertThat(seen.getList("series.step", Long.class)).containsExactly(5L, 9L);
    assertThat(seen.getList("series.stepsPerSecond", Double.class)).containsExactly(null, 2000.0);
    assertThat(seen.getList("series.learningRate", Double.class)).containsExactly(0.05, 0.05);
    assertThat(seen.getList("series.noiseScale", Double.class)).containsExactly(null, null);
    assertThat(seen.getList("scalars.'val/acc'.epochMillis", Long.class))
        .containsExactly(CREATED.toEpochMilli() + 9);
    assertThat(seen.getList("scalars.'val/acc'.step", Long.class)).containsExactly(9L);
    assertThat(seen.getList("scalars.'val/acc'.value", Double.class)).containsExactly(0.75);
    assertThat(seen.getString("timeline[0].message")).isEqualTo("a slot was free");
    assertThat(seen.getLong("timeline[0].to")).isEqualTo(CREATED.toEpochMilli() + 10);
    given()
        .get("/api/v1/timeline")
        .then()
        .statusCode(200)
        .body("name", org.hamcrest.Matchers.hasItem("past"));
  }

  @Test
  void resumesTheTimelineFromTheResource() throws InterruptedException {
    new TestCluster(client).job("kept", "glyph-mlp", 1, 4, CREATED, RUNNING);
    await(json -> json.getList("jobs").size() == 1);

    given()
        .get("/api/v1/jobs/default/kept/history")
        .then()
        .statusCode(200)
        .body("timeline[0].replicas", equalTo(3))
        .body("timeline[0].reason", equalTo("Grow"))
        .body("series.loss", org.hamcrest.Matchers.empty());
  }

  @Test
  void saysSoWhenThereIsNoSuchJob() {
    given()
        .get("/api/v1/jobs/default/nobody/history")
        .then()
        .statusCode(404)
        .body("error", equalTo("no such job: default/nobody"));
  }

  @Test
  void pushesTheOverviewWhenItChanges() throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/api/v1/events"));
    try (var http = HttpClient.newHttpClient()) {
      var answer = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(answer.headers().firstValue("Content-Type").orElse(""))
          .startsWith("text/event-stream");
      try (var lines =
          new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
        assertThat(nextEvent(lines)).contains("\"jobs\":[]");
        new TestCluster(client).job("pushed", "glyph-mlp", 1, 4, CREATED, RUNNING);
        String event = nextEvent(lines);
        while (!event.contains("\"pushed\"")) {
          event = nextEvent(lines);
        }
        assertThat(event).contains("\"phase\":\"Running\"");
      }
    }
  }

  @Test
  void aStreamOutlastsTheTimeThatARequestMayTake() throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/api/v1/events"));
    long end = System.nanoTime() + REQUEST_LIMIT.plusSeconds(2).toNanos();
    try (var http = HttpClient.newHttpClient()) {
      var answer = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      try (var lines =
          new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
        // An event comes at least every ten seconds.
        while (System.nanoTime() < end) {
          assertThat(nextEvent(lines)).contains("\"jobs\":[]");
        }
      }
    }
  }

  @Test
  void streamsAreBounded() throws IOException, InterruptedException {
    List<Socket> streams = new ArrayList<>();
    try {
      for (int i = 0; i < OverviewFeed.MOST; i++) {
        awaitStream(streams);
      }
      assertThat(stream(streams)).contains(" 503 ");
      given()
          .get("/api/v1/events")
          .then()
          .statusCode(503)
          .body("error", containsString("100 pages are connected"));
      streams.getFirst().close();
      awaitStream(streams);
    } finally {
      for (Socket socket : streams) {
        socket.close();
      }
    }
  }

  /** Asks until there is room: the operator hears of the end of others some time later. */
  private void awaitStream(List<Socket> streams) throws IOException, InterruptedException {
    while (!stream(streams).contains(" 200 ")) {
      Thread.sleep(Duration.ofMillis(20));
    }
  }

  /** Asks for a stream; the first line of the answer. */
  private String stream(List<Socket> streams) throws IOException {
    Socket socket = new Socket("localhost", port);
    streams.add(socket);
    socket
        .getOutputStream()
        .write(
            "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
    return new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
        .readLine();
  }

  @Test
  void servesThePageAndItsParts() {
    given()
        .get("/")
        .then()
        .statusCode(200)
        .header("Content-Security-Policy", containsString("default-src 'self'"))
        .header("X-Content-Type-Options", "nosniff")
        .header("Cache-Control", "no-cache")
        .body(containsString("/app/main.js"));
    given().get("/_static/echarts/6.0.0/dist/echarts.esm.min.js").then().statusCode(200);
  }

  @Test
  void refusesRequestsThatNameAnotherHost() {
    for (String path : new String[] {"/api/v1/overview", "/metrics", "/q/health/live", "/"}) {
      given().header("Host", "rebound.example").get(path).then().statusCode(403);
      given().header("Host", "127.0.0.1:1").get(path).then().statusCode(200);
    }
  }

  private static String nextEvent(BufferedReader lines) throws IOException {
    String line = lines.readLine();
    while (line != null && !line.startsWith("data:")) {
      line = lines.readLine();
    }
    assertThat(line).isNotNull();
    return line;
  }

  /**
   * Asks for the overview until it is as expected; the limit for tests that hang ends a vain wait.
   */
  private static JsonPath await(Predicate<JsonPath> expected) throws InterruptedException {
    while (true) {
      JsonPath seen = given().get("/api/v1/overview").jsonPath();
      if (expected.test(seen)) {
        return seen;
      }
      Thread.sleep(Duration.ofMillis(50));
    }
  }
}
