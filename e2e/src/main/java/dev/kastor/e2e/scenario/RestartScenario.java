package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Operator;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.SharedChart;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
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
 * Gangs that restart to rescale, of {@code examples/restart-gang.yaml}: one whose steps are shorter
 * with more pods and one whose steps are longer. Their scripts count their steps with the tool that
 * their pods have.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(10)
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class RestartScenario {
  private static final String TEAM = "restart-team";
  private static final String SCALES = "scales";
  private static final String SLOWS = "slows";
  private static final String IMAGE = "kastor.dev/e2e/python:1";
  private static final String STEP = "0.02 + 0.4 / pods";
  private static final String FINISH = "finish";

  /** All GPUs of two nodes. */
  private static final int MOST = 8;

  private static final Duration SOON = Duration.ofMinutes(6);

  /** Rounds of the scheduler in which nothing may change. */
  private static final int ROUNDS = 5;

  private static final Pattern DECISIONS =
      Pattern.compile("(?m)^kastor_decision_seconds_count ([0-9.E]+)$");

  private static final Pattern BEGAN =
      Pattern.compile("rank (\\d+) of (\\d+) goes on at step (\\d+)");

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "checkpoints");
  }

  @AfterAll
  void remove() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    client.close();
    Files.deleteIfExists(finish());
  }

  @Test
  @Order(1)
  @DisplayName("a gang starts again at each size that it gets, with its ranks and at its step")
  void startsAgainAtEachSize() throws Exception {
    submit(SCALES, STEP, 1);
    until("it counts its steps", () -> jobs.step(SCALES) > 0);
    for (int size : List.of(2, 3)) {
      long counted = jobs.step(SCALES);
      jobs.pin(SCALES, size);
      until("all %d pods go on".formatted(size), () -> began(SCALES).size() == size);
      List<MatchResult> began = began(SCALES);
      assertThat(began).as("pods of this size").allMatch(pod -> pod.group(2).equals("" + size));
      assertThat(began.stream().map(pod -> Integer.parseInt(pod.group(1))))
          .containsExactlyInAnyOrderElementsOf(IntStream.range(0, size).boxed().toList());
      long step = began.stream().mapToLong(pod -> Long.parseLong(pod.group(3))).min().orElseThrow();
      // Rank 0 saves, and waits for nobody: a pod that begins later may find what it saved since.
      assertThat(began)
          .as("pods that begin at its step or later")
          .anyMatch(pod -> pod.group(1).equals("0") && Long.parseLong(pod.group(3)) == step);
      assertThat(step).as("saved when it was told to end").isGreaterThanOrEqualTo(counted);
      until("it trains on", () -> jobs.in(Phase.Running, SCALES) && jobs.step(SCALES) > step);
    }
    assertThat(jobs.status(SCALES).orElseThrow().restarts()).isEqualTo(2);
    assertThat(reasons(SCALES)).contains("GangMoves").doesNotContain("GangRestarts");
  }

  @Test
  @Order(2)
  @Tag("nightly")
  @DisplayName("its speed at each size is what its steps took")
  void measuresSpeed() throws Exception {
    submit(SLOWS, "0.2 + 0.2 * pods", 1);
    until("the other one counts", () -> speed(SLOWS) > 0 && most(SLOWS) == 1);
    jobs.pin(SLOWS, 2);
    until("it counts with two pods", () -> speed(SLOWS) > 0 && most(SLOWS) == 2);
    until("the first counts with three pods", () -> speed(SCALES) > 0 && most(SCALES) == 3);
    double three = speed(SCALES);
    // A step of 256 examples takes 0.153 s and however late a busy machine wakes three pods.
    assertThat(three).isBetween(256 / 0.6, 256 / 0.15);
    assertThat(jobs.training(SCALES).orElseThrow().medianStartMillis()).isPositive();
  }

  @Test
  @Order(3)
  @Tag("nightly")
  @DisplayName("what they counted says which of them is worth more pods")
  void sizesByWhatWasCounted() throws Exception {
    bounds(SLOWS, 1, MOST);
    bounds(SCALES, 1, MOST);
    until(
        "the one that gains has a node or more, the other one GPU at the most",
        () -> jobs.running(SCALES).size() >= MOST / 2 && jobs.allocated(SLOWS) <= 1);
    AtomicReference<Double> begun = new AtomicReference<>(rounds());
    until(
        "so it is for %d rounds on end".formatted(ROUNDS),
        () -> {
          // Steps that a busy machine delays may mislead a round, and the next ones mend it.
          if (jobs.allocated(SCALES) < MOST / 2 || jobs.allocated(SLOWS) > 1) {
            begun.set(rounds());
          }
          return rounds() >= begun.get() + ROUNDS;
        });
    Progress.say(
        "%s: %d replicas, %s: %d replicas"
            .formatted(SCALES, jobs.allocated(SCALES), SLOWS, jobs.allocated(SLOWS)));
  }

  @Test
  @Order(4)
  @Tag("nightly")
  @DisplayName("both succeed, and no pod failed")
  void succeeds() throws Exception {
    Files.createFile(finish());
    until(
        "both succeed", () -> jobs.in(Phase.Succeeded, SCALES) && jobs.in(Phase.Succeeded, SLOWS));
    for (String name : List.of(SCALES, SLOWS)) {
      assertThat(jobs.status(name).orElseThrow().failuresSinceProgress()).isIn(null, 0);
    }
  }

  /** The example with another image, length and number of pods. */
  private void submit(String name, String stepSeconds, int replicas) throws IOException {
    String text = Files.readString(Shell.ROOT.resolve("examples/restart-gang.yaml"));
    for (var change :
        Map.of(
                "name: restart-gang",
                "name: " + name,
                "{minReplicas: 2, maxReplicas: 8,",
                "{minReplicas: %1$d, maxReplicas: %1$d,".formatted(replicas),
                "docker.io/library/python:3.12-slim",
                IMAGE,
                STEP,
                stepSeconds,
                "while step < 20000:",
                "while not pathlib.Path(\"/checkpoints/%s\").exists():".formatted(FINISH),
                "step % 50 == 0",
                "step % 10 == 0")
            .entrySet()) {
      assertThat(text).contains(change.getKey());
      text = text.replace(change.getKey(), change.getValue());
    }
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .resource(Serialization.unmarshal(text, TrainingJob.class))
        .create();
  }

  private void bounds(String name, int min, int max) {
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .withName(name)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"elastic\": {\"minReplicas\": %d, \"maxReplicas\": %d}}}"
                .formatted(min, max));
  }

  /** What each pod that runs said when it began. */
  private List<MatchResult> began(String name) {
    return jobs.running(name).stream()
        .flatMap(pod -> BEGAN.matcher(log(pod)).results().limit(1))
        .toList();
  }

  private String log(Pod pod) {
    return client.pods().resource(pod).getLog();
  }

  private double rounds() throws IOException, InterruptedException {
    String metrics = new Operator(client, SharedChart.NAMESPACE).get("/metrics");
    return DECISIONS
        .matcher(metrics)
        .results()
        .mapToDouble(count -> Double.parseDouble(count.group(1)))
        .findFirst()
        .orElseThrow();
  }

  private List<String> reasons(String name) {
    return client.v1().events().inNamespace(TEAM).list().getItems().stream()
        .filter(event -> name.equals(event.getInvolvedObject().getName()))
        .map(Event::getReason)
        .toList();
  }

  private double speed(String name) {
    return jobs.training(name).map(TrainingStatus::throughput).orElse(0.0);
  }

  private int most(String name) {
    return jobs.training(name).map(TrainingStatus::maxReplicas).orElse(0);
  }

  private static Path finish() {
    return Path.of(System.getenv("KASTOR_E2E_CHECKPOINTS"), FINISH);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
