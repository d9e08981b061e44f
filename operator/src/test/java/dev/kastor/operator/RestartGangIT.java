package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gangs whose size changes by a restart, and what their scripts count. */
// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class RestartGangIT {
  private static final String GANG =
      """
      "elastic": {"minReplicas": 2, "maxReplicas": 4%s},
      "template": {"spec": {"containers": [{"name": "main", "image": "trainer:1"}]}}
      """;
  private static final String RESTARTS = GANG.formatted(", \"rescale\": \"Restart\"");

  /** Steps of a minute: what the requests take is little beside it. */
  private static final Duration BETWEEN_COUNTS = Duration.ofSeconds(60);

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @Inject MovableClock clock;

  private Path folder = Path.of("");

  private final TestBench bench = new TestBench();
  private AgentClient api;
  private FakeAgents kubelet;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    api = new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate());
    kubelet = new FakeAgents(bench.client, api);
    bench.node("n1", 4);
  }

  @AfterEach
  void removeJob() {
    bench.clear();
    kubelet.close();
    api.close();
  }

  @Test
  void startsAgainAtEverySizeThatItGetsAndSucceedsAtTheLast() {
    bench.submit("", RESTARTS);
    await("it runs", () -> runs(2));
    pin(4);
    await("it runs with four", () -> runs(4));
    assertThat(pods())
        .allSatisfy(pod ->
            assertThat(env(pod))
                .containsEntry("WORLD_SIZE", "4")
                .containsEntry("PET_NNODES", "4")
                .containsEntry("JAX_NUM_PROCESSES", "4"));
    pin(3);
    await("it runs with three", () -> runs(3));
    List<Pod> last = pods();
    for (int rank = 0; rank < 3; rank++) {
      assertThat(env(last.get(rank)))
          .containsEntry("WORLD_SIZE", "3")
          .containsEntry("RANK", "" + rank);
      assertThat(last.get(rank).getSpec().getHostname()).isEqualTo(bench.name + "-" + rank);
    }
    assertThat(bench.status().orElseThrow().restarts()).isEqualTo(2);
    assertThat(bench.status().orElseThrow().failuresSinceProgress())
        .as("a change of size is no failure")
        .isIn(null, 0);
    last.forEach(pod -> kubelet.succeed(NAMESPACE, pod.getMetadata().getName()));
    await("it succeeds", () -> bench.in(Phase.Succeeded));
    assertThat(bench.condition("Complete").getMessage()).isEqualTo("All 3 pods succeeded.");
  }

  @Test
  void whatItCountsBecomesItsSpeedAtThatSize() throws Exception {
    bench.submit("", RESTARTS);
    await("it runs", () -> runs(2));
    assertThat(count(0, 1000, 256).statusCode()).isEqualTo(204);
    clock.advance(BETWEEN_COUNTS);
    assertThat(count(0, 1100, 256).statusCode()).isEqualTo(204);
    await("its status tells", () -> training().map(TrainingStatus::step).orElse(0L) == 1100);
    TrainingStatus known = training().orElseThrow();
    assertThat(known.globalBatch()).isEqualTo(256);
    assertThat(known.throughput()).isBetween(1.0, 100 * 256 / 60.0);
    assertThat(known.predictedGoodput()).containsKeys("2", "3", "4");
    assertThat(known.medianStartMillis()).as("from its slots to its first count").isPositive();
    pin(4);
    await("it runs with four", () -> runs(4));
    assertThat(count(0, 1100, 256).statusCode()).isEqualTo(204);
    clock.advance(BETWEEN_COUNTS);
    assertThat(count(0, 1300, 256).statusCode()).isEqualTo(204);
    await("its status tells", () -> training().map(TrainingStatus::step).orElse(0L) == 1300);
    assertThat(training().orElseThrow().maxReplicas()).isEqualTo(4);
  }

  @Test
  void badCountsAreRefusedByTheirField() throws Exception {
    bench.submit("", RESTARTS);
    await("it runs", () -> runs(2));
    Map<String, String> refused =
        Map.of(
            "{\"steps\": -1, \"batch\": 256}", "steps must be from 0",
            "{\"steps\": 1, \"batch\": 0}", "batch must be from 1",
            "{\"steps\": 1}", "batch",
            "{\"steps\": 1.5, \"batch\": 256}", "steps",
            "{\"steps\": \"1\", \"batch\": 256}", "steps",
            "{\"steps\": 1, \"batch\": 256, \"speed\": 9}", "speed: there is no such field",
            "steps=1 batch=2", "not JSON");
    for (var each : refused.entrySet()) {
      HttpResponse<String> answer = post(pod(0), each.getKey());
      assertThat(answer.statusCode()).as(each.getKey()).isEqualTo(400);
      assertThat(answer.body()).as(each.getKey()).contains(each.getValue());
    }
    HttpResponse<String> other = count(1, 10, 256);
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(other.body()).contains("has rank 1: the pod of rank 0 counts the steps of all");
    assertThat(training()).as("nothing of it was taken in").isEmpty();
  }

  @Test
  void itsPodsMayCountAndNothingElse() throws Exception {
    bench.submit("", RESTARTS);
    await("it runs", () -> runs(2));
    String token = FakeApiServer.token(NAMESPACE, bench.name, pod(0));
    String job = "/v1/jobs/%s/%s/".formatted(NAMESPACE, bench.name);
    HttpResponse<String> telemetry = api.post(job + "telemetry", token, "{}".getBytes(UTF_8));
    assertThat(telemetry.statusCode()).isEqualTo(403);
    assertThat(telemetry.body()).contains("is a gang");
    assertThat(
            api.get(
                    job
                        + "membership?pod=%s&address=127.0.0.1:1&generation=0&phase=READY&step=-1&wait=0"
                            .formatted(pod(0)),
                    token)
                .statusCode())
        .isEqualTo(403);
  }

  @Test
  void aGangOfOneSizeCountsNothing() throws Exception {
    bench.submit("", GANG.formatted("").replace("\"minReplicas\": 2", "\"minReplicas\": 4"));
    await("it runs", () -> runs(4));
    HttpResponse<String> answer = count(0, 10, 256);
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(answer.body()).contains("only a gang with elastic.rescale: Restart does");
    Pod pod = pods().getFirst();
    assertThat(env(pod)).doesNotContainKeys("KASTOR_REPORT", "KASTOR_TOKEN_FILE");
    assertThat(pod.getSpec().getVolumes()).noneMatch(volume -> volume.getProjected() != null);
  }

  /** As a container runs it: what the pod's variables name lies in a folder of its own. */
  @Test
  void theToolOfThePodsCounts(@TempDir Path fresh) throws Exception {
    folder = fresh;
    bench.submit("", RESTARTS);
    await("it runs", () -> runs(2));
    Map<String, String> variables = env(pods().getFirst());
    var secret =
        bench.client.secrets().inNamespace(NAMESPACE).withName(bench.name + "-report").get();
    for (var file : secret.getData().entrySet()) {
      Files.write(folder.resolve(file.getKey()), Base64.getDecoder().decode(file.getValue()));
    }
    Files.writeString(folder.resolve("token"), FakeApiServer.token(NAMESPACE, bench.name, pod(0)));
    // The operator of the test listens on a port that its settings do not know.
    variables.put(
        "KASTOR_REPORT_URL",
        base + variables.get("KASTOR_REPORT_URL").replaceFirst("https?://[^/]*/", ""));
    assertThat(tool(variables, "steps=40", "batch=256")).isEqualTo("0 ");
    await("its status tells", () -> training().map(TrainingStatus::step).orElse(0L) == 40);
    assertThat(tool(variables, "steps=50", "batch=0")).startsWith("1 ").contains("batch must be");
    assertThat(tool(variables, "steps=many")).startsWith("1 ").contains("'steps=many' must be");
    variables.put("KASTOR_RANK", "1");
    assertThat(tool(variables, "steps=90", "batch=256")).as("it is silent").isEqualTo("0 ");
    assertThat(training().orElseThrow().step()).isEqualTo(40);
  }

  /** Exit status and output. */
  private String tool(Map<String, String> variables, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("python3", here(variables, "KASTOR_REPORT")));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    variables.forEach((name, value) -> builder.environment().put(name, value));
    builder.environment().put("KASTOR_TOKEN_FILE", here(variables, "KASTOR_TOKEN_FILE"));
    builder.environment().put("KASTOR_CA_FILE", here(variables, "KASTOR_CA_FILE"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    return process.exitValue() + " " + output;
  }

  private String here(Map<String, String> variables, String name) {
    return variables.get(name).replace("/var/run/kastor", folder.toString());
  }

  private HttpResponse<String> count(int rank, long steps, long batch) throws Exception {
    return post(pod(rank), "{\"steps\": %d, \"batch\": %d}".formatted(steps, batch));
  }

  private HttpResponse<String> post(String pod, String body) throws Exception {
    return api.post(
        "/v1/jobs/%s/%s/steps".formatted(NAMESPACE, bench.name),
        FakeApiServer.token(NAMESPACE, bench.name, pod),
        body.getBytes(UTF_8));
  }

  private void pin(int replicas) {
    bench
        .resource()
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\": {\"annotations\": {\"kastor.dev/pinned\": \"%d\"}}}"
                .formatted(replicas));
  }

  private boolean runs(int replicas) {
    return bench.in(Phase.Running)
        && pods().size() == replicas
        && pods().stream()
            .allMatch(pod -> env(pod).get("WORLD_SIZE").equals("" + replicas) && running(pod));
  }

  private static boolean running(Pod pod) {
    return pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase());
  }

  private Optional<TrainingStatus> training() {
    return bench.status().map(TrainingJobStatus::training);
  }

  private String pod(int rank) {
    return pods().get(rank).getMetadata().getName();
  }

  /** By rank. */
  private List<Pod> pods() {
    return bench.pods().stream()
        .sorted(Comparator.comparingInt(pod -> Integer.parseInt(env(pod).get("RANK"))))
        .toList();
  }

  private static Map<String, String> env(Pod pod) {
    Map<String, String> values = new HashMap<>();
    Stream<EnvVar> variables = pod.getSpec().getContainers().getFirst().getEnv().stream();
    variables
        .filter(variable -> variable.getValue() != null)
        .forEach(variable -> values.put(variable.getName(), variable.getValue()));
    return values;
  }
}
