package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
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
  private static final List<String> NODES =
      List.of("slow-nodes-1", "slow-nodes-2", "slow-nodes-3", "slow-nodes-4");
  private static final List<String> JOBS = List.of("first", "second", "third");
  private static final String LATE = "late";
  private static final List<String> ALL = Stream.concat(JOBS.stream(), Stream.of(LATE)).toList();
  private static final int SIZE = 4;
  private static final long STEPS = 2_000_000;
  private static final Duration SOON = Duration.ofMinutes(3);

  private final Set<String> throttled = ConcurrentHashMap.newKeySet();
  private final PlayedCluster cluster;
  private String slow = "";

  SlowNodesScenario() throws Exception {
    cluster =
        new PlayedCluster(
            job -> STEPS, PlayedAgent.Manner.onNodes(node -> throttled.contains(node) ? 2 : 1));
  }

  @BeforeAll
  void begin() throws Exception {
    NODES.forEach(node -> cluster.nodes().put(node, TYPE, SIZE));
    cluster.start();
  }

  @AfterAll
  void end() {
    NODES.forEach(node -> cluster.nodes().remove(node));
    cluster.close();
  }

  @Test
  @Order(1)
  @DisplayName("no node is called slow while all are alike")
  void isQuiet() throws Exception {
    for (String job : JOBS) {
      cluster.create(job, SIZE, STEPS);
    }
    until("all train", () -> JOBS.stream().allMatch(this::trains));
    assertThat(cluster.operator().slowNodes()).isEmpty();
  }

  @Test
  @Order(2)
  @DisplayName("a node that is throttled to half its speed is named, and left by its job")
  void isNamedAndAvoided() throws Exception {
    slow = nodeOf(JOBS.getFirst()).orElseThrow();
    throttled.add(slow);
    Instant begun = Instant.now();
    until("the node is named", () -> cluster.operator().slowNodes().containsKey(slow));
    Progress.say(
        "%s is named after %d s, as %s times slower"
            .formatted(
                slow,
                Duration.between(begun, Instant.now()).toSeconds(),
                cluster.operator().slowNodes().get(slow)));
    assertThat(cluster.operator().slowNodes()).as("the others are well").containsOnlyKeys(slow);
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
  @DisplayName("a node that has recovered is cleared by the steps of the job that gets it")
  void isCleared() throws Exception {
    throttled.clear();
    cluster.create(LATE, SIZE, STEPS);
    // Not it, but the job that the slow node costs least may be the one that is there then.
    until(
        "all train, one of them there",
        () ->
            ALL.stream().allMatch(this::trains)
                && ALL.stream().anyMatch(job -> nodeOf(job).filter(slow::equals).isPresent()));
    until("no node is called slow", () -> cluster.operator().slowNodes().isEmpty());
  }

  @Test
  @Order(4)
  @DisplayName("jobs that are deleted leave nothing behind")
  void leavesNothing() throws Exception {
    cluster.clear(SOON);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, this::situation, condition);
  }

  private String situation() {
    try {
      return "slow %s; %s"
          .formatted(cluster.operator().slowNodes(), ALL.stream().map(cluster::status).toList());
    } catch (IOException e) {
      return e.toString();
    }
  }

  private boolean hasEvent() {
    return cluster.client().v1().events().inNamespace(cluster.team()).list().getItems().stream()
        .anyMatch(
            event -> event.getReason().equals("NodeSlow") && event.getMessage().contains(slow));
  }

  private boolean trains(String job) {
    return cluster.trains(job, SIZE);
  }

  private Optional<String> nodeOf(String job) {
    return cluster
        .status(job)
        .map(TrainingJobStatus::allocation)
        .map(AllocationStatus::nodes)
        .flatMap(held -> held.keySet().stream().findFirst());
  }
}
