package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** Cluster of four like nodes, one of which is throttled to half its speed while jobs train. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SlowNodesScenario {
  private static final String TYPE = "h200";
  private static final String TEAM = "team-0";
  private static final List<String> NODES =
      List.of("slow-nodes-1", "slow-nodes-2", "slow-nodes-3", "slow-nodes-4");
  private static final List<String> JOBS = List.of("first", "second", "third");
  private static final String LATE = "late";
  private static final int SIZE = 4;
  private static final long STEPS = 2_000_000;
  private static final Duration SOON = Duration.ofMinutes(3);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  // Before whoever watches TrainingJobs: it brings their definition.
  private final Installed chart = new Installed(client);
  private final JobsSeen seen = new JobsSeen(client);
  private final Submitted submitted = new Submitted(client, seen);
  private final PlayedNodes nodes = new PlayedNodes(client);
  private final Set<String> throttled = ConcurrentHashMap.newKeySet();
  private final PlayedAgents agents =
      new PlayedAgents(
          client,
          job -> STEPS,
          PlayedAgent.Manner.onNodes(node -> throttled.contains(node) ? 2 : 1));
  private final OperatorProcess operator;
  private String slow = "";

  SlowNodesScenario() throws Exception {
    operator =
        new OperatorProcess(
            chart,
            client.getConfiguration(),
            client.getConfiguration().getMasterUrl(),
            Size.heap(),
            Map.of());
  }

  @BeforeAll
  void begin() throws Exception {
    NODES.forEach(node -> nodes.put(node, TYPE, SIZE));
    submitted.makeTeams();
    operator.start();
    operator.awaitReady();
  }

  @AfterAll
  void end() {
    agents.close();
    operator.close();
    seen.close();
    NODES.forEach(node -> client.nodes().withName(node).delete());
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("no node is called slow while all are alike")
  void isQuiet() throws Exception {
    for (String job : JOBS) {
      submitted.create(job(job));
    }
    until("all train", () -> JOBS.stream().allMatch(this::trains));
    assertThat(operator.slowNodes()).isEmpty();
  }

  @Test
  @Order(2)
  @DisplayName("a node that is throttled to half its speed is named, and left by its job")
  void isNamedAndAvoided() throws Exception {
    slow = nodeOf(JOBS.getFirst()).orElseThrow();
    throttled.add(slow);
    Instant begun = Instant.now();
    until("the node is named", () -> operator.slowNodes().containsKey(slow));
    Progress.say(
        "%s is named after %d s, as %s times slower"
            .formatted(
                slow,
                Duration.between(begun, Instant.now()).toSeconds(),
                operator.slowNodes().get(slow)));
    assertThat(operator.slowNodes()).as("the others are well").containsOnlyKeys(slow);
    until("an event of a job names it", this::hasEvent);
    until(
        "all train, none of them there",
        () ->
            JOBS.stream()
                .allMatch(job ->
                    trains(job) && nodeOf(job).filter(node -> !node.equals(slow)).isPresent()));
  }

  @Test
  @Order(3)
  @DisplayName("a node that has recovered is cleared by the steps of the next job there")
  void isCleared() throws Exception {
    throttled.clear();
    submitted.create(job(LATE));
    until("the next job trains there", () -> trains(LATE));
    until("no node is called slow", () -> operator.slowNodes().isEmpty());
  }

  @Test
  @Order(4)
  @DisplayName("jobs that are deleted leave nothing behind")
  void leavesNothing() throws Exception {
    submitted.clear(SOON);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, this::situation, condition);
  }

  private String situation() {
    try {
      return "slow %s; %s"
          .formatted(operator.slowNodes(), JOBS.stream().map(this::status).toList());
    } catch (IOException e) {
      return e.toString();
    }
  }

  private boolean hasEvent() {
    return client.v1().events().inNamespace(TEAM).list().getItems().stream()
        .anyMatch(
            event -> event.getReason().equals("NodeSlow") && event.getMessage().contains(slow));
  }

  private boolean trains(String job) {
    return status(job)
        .filter(status -> status.training() != null && status.training().globalBatch() > 0)
        .map(TrainingJobStatus::allocation)
        .filter(allocation -> allocation.replicas() == SIZE)
        .isPresent();
  }

  private Optional<String> nodeOf(String job) {
    return status(job)
        .map(TrainingJobStatus::allocation)
        .map(AllocationStatus::nodes)
        .flatMap(held -> held.keySet().stream().findFirst());
  }

  private Optional<TrainingJobStatus> status(String job) {
    return Optional.ofNullable(
            client.resources(TrainingJob.class).inNamespace(TEAM).withName(job).get())
        .map(TrainingJob::getStatus);
  }

  private static TrainingJob job(String name) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s, namespace: %s}
        spec:
          program: {name: glyph-mlp}
          elastic: {minReplicas: %d, maxReplicas: %d}
          goodput:
            mode: Fixed
            batchSize: {initial: 64, perDevice: {min: 16, max: 64}}
            learningRate: {base: "0.05"}
            work: {steps: %d}
        """
            .formatted(name, TEAM, SIZE, SIZE, STEPS),
        TrainingJob.class);
  }
}
