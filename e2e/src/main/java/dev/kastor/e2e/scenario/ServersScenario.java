package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Credentials;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Operator;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.cluster.Throttle;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.SharedChart;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import dev.kastor.e2e.watch.AgentProcess;
import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Jobs with a parameter server: three workers in step, one of which is a backup and one of which is
 * throttled to a tenth, and two workers without steps.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(9)
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class ServersScenario {
  private static final String TEAM = "servers-team";
  private static final String BACKUP = "backup";
  private static final String STALE = "stale";
  private static final int WORKERS = 3;
  private static final int MOST_STALENESS = 8;
  private static final Duration SOON = Duration.ofMinutes(6);

  /** Changes of the status, some two seconds apart, over which a step's mean time is taken. */
  private static final int CHANGES = 3;

  /** Most that a step may take with one worker throttled, as a multiple of its usual time. */
  private static final double MOST = 1.2;

  private static final int WARM_STEPS = 1500;

  /** Rate of the store: some updates a second of each worker, until the job may end. */
  private static final int EXAMPLES_PER_SECOND = 400;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final SlowStore store = new SlowStore(client, TEAM);

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "checkpoints");
    store.make();
  }

  @AfterAll
  void remove() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    store.remove();
    client.close();
  }

  @Test
  @Order(1)
  @Tag("nightly")
  @DisplayName("a server trains beside its workers, holds no GPU and counts for no replica")
  void trains() throws Exception {
    submit(job(BACKUP, WORKERS, "backup: 1", 24_000));
    until("it makes steps", SOON, () -> jobs.step(BACKUP) > 0);
    Pod server = server(BACKUP);
    assertThat(Pods.gpus(server)).isZero();
    assertThat(workers(BACKUP)).hasSize(WORKERS).allMatch(pod -> Pods.gpus(pod) == 1);
    assertThat(jobs.allocated(BACKUP)).isEqualTo(WORKERS);
    assertThat(served(BACKUP).path("pods").path(0).path("pod").asText())
        .isEqualTo(server.getMetadata().getName());
  }

  @Test
  @Order(2)
  @Tag("nightly")
  @DisplayName("a worker that computes for a tenth of the time holds up no step")
  void hidesASlowWorker() throws Exception {
    // New processes take several times as long for a step.
    until("its processes are warm", SOON, () -> jobs.step(BACKUP) > WARM_STEPS);
    double before = stepSeconds(BACKUP);
    String slow = workers(BACKUP).getLast().getMetadata().getName();
    double throttled;
    try (var _ = new Throttle(pid(slow))) {
      // Until shares that it had are done by others.
      nextStep(BACKUP);
      throttled = stepSeconds(BACKUP);
    }
    // Few cores have more time for the others meanwhile, so that a step may even be shorter.
    double after = stepSeconds(BACKUP);
    double usual = (before + after) / 2;
    Progress.say(
        "a step takes %.2f ms, %.2f ms with one of %d workers throttled to a tenth, then %.2f ms"
            .formatted(before * 1000, throttled * 1000, WORKERS, after * 1000));
    assertThat(throttled).isLessThanOrEqualTo(MOST * usual);
    assertThat(jobs.in(Phase.Running, BACKUP)).isTrue();
    assertThat(workers(BACKUP))
        .as("a slow worker is no hang")
        .anyMatch(pod -> pod.getMetadata().getName().equals(slow));
    until(
        "copies that came late are counted",
        SOON,
        () -> served(BACKUP).path("droppedCopies").asLong() > 0);
  }

  @Test
  @Order(3)
  @Tag("nightly")
  @DisplayName("after the server was killed all go on from its newest checkpoint")
  void goesOnFromTheCheckpoint() throws Exception {
    until("it has saved", SOON, () -> checkpoint(BACKUP) > 0);
    String died = server(BACKUP).getMetadata().getName();
    Set<String> before = names(workers(BACKUP));
    long saved = checkpoint(BACKUP);
    kill(died);
    until(
        "another server is there",
        SOON,
        () ->
            servers(BACKUP).stream()
                    .anyMatch(server -> !server.getMetadata().getName().equals(died))
                && Integer.valueOf(1).equals(jobs.status(BACKUP).orElseThrow().restarts()));
    until("it makes steps again", SOON, () -> jobs.step(BACKUP) > saved);
    long step = jobs.step(BACKUP);
    until("and goes on", SOON, () -> jobs.step(BACKUP) > step);
    assertThat(names(workers(BACKUP))).as("workers stay").isEqualTo(before);
  }

  @Test
  @Order(4)
  @DisplayName("workers without steps: how stale their updates are is shown")
  void tellsStaleness() throws Exception {
    String job = job(STALE, 2, "mode: asynchronous, mostStaleness: " + MOST_STALENESS, 2_000);
    submit(store.feed(job, EXAMPLES_PER_SECOND));
    until("it makes steps", SOON, () -> jobs.step(STALE) > 0);
    assertThat(Pods.gpus(server(STALE))).isZero();
    assertThat(workers(STALE)).hasSize(2).allMatch(pod -> Pods.gpus(pod) == 1);
    until("updates are counted", SOON, () -> served(STALE).path("staleness").path(0).asLong() > 0);
    store.hurry();
    untilItSucceeds("it succeeds", STALE);
    JsonNode counts = served(STALE).path("staleness");
    long all = 0;
    for (JsonNode count : counts) {
      all += count.asLong();
    }
    Progress.say("%d updates, by staleness: %s".formatted(all, counts));
    TrainingStatus end = jobs.training(STALE).orElseThrow();
    InvariantViolation.unless(() -> assertThat(end.lostOrRepeatedExamples()).isZero());
    assertThat(all).as("each update is counted once").isEqualTo(end.step());
    for (int staleness = MOST_STALENESS + 1; staleness < counts.size(); staleness++) {
      assertThat(counts.path(staleness).asLong()).as("updates staler than asked").isZero();
    }
    assertThat(new Operator(client, SharedChart.NAMESPACE).get("/metrics"))
        .contains("kastor_job_staleness_updates_total{namespace=\"%s\"".formatted(TEAM));
  }

  @Test
  @Order(5)
  @Tag("nightly")
  @DisplayName("it succeeds, no example lost or repeated, and nothing of it runs any more")
  void succeeds() throws Exception {
    untilItSucceeds("it succeeds", BACKUP);
    TrainingStatus end = jobs.training(BACKUP).orElseThrow();
    InvariantViolation.unless(() -> assertThat(end.lostOrRepeatedExamples()).isZero());
    assertThat(end.finalMetric()).isNotNull();
    until("nothing runs", SOON, () -> jobs.running(BACKUP).isEmpty());
  }

  private static String job(String name, int workers, String options, int steps) {
    return """
    apiVersion: kastor.dev/v1alpha1
    kind: TrainingJob
    metadata: {name: %s}
    spec:
      program:
        name: glyph-mlp
      elastic: {minReplicas: %2$d, maxReplicas: %2$d}
      checkpoint: {intervalSeconds: 5}
      training:
        sync: {parameter-server: {%3$s}}
      goodput:
        mode: Fixed
        batchSize: {initial: 128}
        learningRate: {base: "0.05"}
        work: {steps: %4$d}
    """
        .formatted(name, workers, options, steps);
  }

  private void submit(String text) {
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .resource(Serialization.unmarshal(text, TrainingJob.class))
        .create();
  }

  /** Mean time of a step. The status tells steps seldom, so from one change of it to another. */
  private double stepSeconds(String name) throws Exception {
    long from = nextStep(name);
    long begun = System.nanoTime();
    long to = from;
    for (int change = 0; change < CHANGES; change++) {
      to = nextStep(name);
    }
    return (System.nanoTime() - begun) * 1e-9 / (to - from);
  }

  private long nextStep(String name) throws Exception {
    long known = jobs.step(name);
    until("the status tells a later step", SOON, () -> jobs.step(name) > known);
    return jobs.step(name);
  }

  private long checkpoint(String name) {
    return jobs.training(name)
        .map(TrainingStatus::checkpointStep)
        .filter(Objects::nonNull)
        .orElse(0L);
  }

  private List<Pod> servers(String name) {
    return jobs.running(name).stream().filter(ServersScenario::isServer).toList();
  }

  private Pod server(String name) {
    return servers(name).getFirst();
  }

  private List<Pod> workers(String name) {
    return jobs.running(name).stream().filter(pod -> !isServer(pod)).toList();
  }

  private static boolean isServer(Pod pod) {
    return "server".equals(pod.getMetadata().getLabels().get("kastor.dev/role"));
  }

  private static Set<String> names(List<Pod> pods) {
    return pods.stream().map(pod -> pod.getMetadata().getName()).collect(Collectors.toSet());
  }

  private static long pid(String pod) throws IOException {
    return AgentProcess.all().stream()
        .filter(process -> process.pod().equals(TEAM + "/" + pod))
        .findFirst()
        .orElseThrow()
        .pid();
  }

  private static void kill(String pod) throws IOException, InterruptedException {
    int status =
        new ProcessBuilder("kill", "-KILL", Long.toString(pid(pod))).inheritIO().start().waitFor();
    assertThat(status).isZero();
  }

  /** Facts of a job's servers, as the page gets them. */
  private JsonNode served(String name) throws IOException, InterruptedException {
    String token =
        new Credentials(client).ofAccount(SharedChart.NAMESPACE, "kastor-kastor-viewer", "kastor");
    var answer =
        new Operator(client, SharedChart.NAMESPACE)
            .get("/api/v1/jobs/%s/%s/history".formatted(TEAM, name), token);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body()).path("servers");
  }

  private void untilItSucceeds(String what, String job) throws Exception {
    Await.whileItMoves(
        what, SOON, jobs::describe, () -> jobs.step(job), () -> jobs.in(Phase.Succeeded, job));
  }

  private void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
    Await.until(what, limit, jobs::describe, condition);
  }
}
