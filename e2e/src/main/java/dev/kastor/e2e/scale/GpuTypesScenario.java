package dev.kastor.e2e.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Cluster with two GPU types, of which one is half as fast for one of two jobs and as fast as the
 * other for the second job, whose steps wait for something else.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class GpuTypesScenario {
  private static final String FAST = "h200";
  private static final String SLOW = "a100";
  private static final String FAST_NODE = "gpu-types-fast";
  private static final String SLOW_NODE = "gpu-types-slow";

  /** The job that gains from the faster type. */
  private static final String GAINS = "gains";

  private static final String SAME = "same";
  private static final String SMALL = "-small";
  private static final int SIZE = 4;
  private static final long STEPS = 2_000_000;
  private static final Duration SOON = Duration.ofMinutes(3);

  private final PlayedCluster cluster;

  GpuTypesScenario() throws Exception {
    cluster =
        new PlayedCluster(
            job -> STEPS,
            PlayedAgent.Manner.honest(
                (job, type) -> job.equals(GAINS) && type.equals(SLOW) ? 2 : 1));
  }

  @BeforeAll
  void begin() throws Exception {
    cluster.nodes().put(FAST_NODE, FAST, 2 * SIZE);
    cluster.nodes().put(SLOW_NODE, SLOW, 2 * SIZE);
    cluster.start();
  }

  @AfterAll
  void end() {
    for (String node : List.of(FAST_NODE, SLOW_NODE)) {
      cluster.nodes().remove(node);
      cluster.nodes().remove(node + SMALL);
    }
    cluster.close();
  }

  @Test
  @Order(1)
  @DisplayName("a job is measured on each GPU type apart")
  void measures() throws Exception {
    open(SLOW_NODE);
    cluster.create(GAINS, SIZE, STEPS);
    cluster.create(SAME, SIZE, STEPS);
    until("both train on " + SLOW, () -> trainsOn(GAINS, SLOW) && trainsOn(SAME, SLOW));
    suspend(true);
    open(FAST_NODE);
    suspend(false);
    until("both train on " + FAST, () -> trainsOn(GAINS, FAST) && trainsOn(SAME, FAST));
    until("both types are known", () -> types(GAINS).size() == 2 && types(SAME).size() == 2);
    Progress.say("goodput by type: %s %s, %s %s".formatted(GAINS, types(GAINS), SAME, types(SAME)));
    assertThat(ratio(GAINS)).as("fast over slow of the job that gains").isBetween(1.7, 2.3);
    assertThat(ratio(SAME)).as("fast over slow of the other").isBetween(0.85, 1.15);
  }

  @Test
  @Order(2)
  @DisplayName("the faster type goes to the job that gains more")
  void assigns() throws Exception {
    suspend(true);
    // One of the two jobs fits on each.
    cluster.nodes().put(FAST_NODE + SMALL, FAST, SIZE);
    cluster.nodes().put(SLOW_NODE + SMALL, SLOW, SIZE);
    open("no node of the first step");
    suspend(SAME, false);
    until(
        "the other job trains", () -> training(SAME).isPresent() && cluster.allocated(SAME, SIZE));
    suspend(GAINS, false);
    until("each has its type", () -> trainsOn(GAINS, FAST) && trainsOn(SAME, SLOW));
  }

  @Test
  @Order(3)
  @DisplayName("kastor why names the types")
  void explains() throws Exception {
    String why =
        Shell.run(
                Map.of(),
                "",
                List.of(
                    Shell.ROOT.resolve("kastor").toString(),
                    "why",
                    GAINS,
                    "-n",
                    cluster.team(),
                    "--kubeconfig",
                    System.getenv("KUBECONFIG")))
            .good();
    Progress.say(why.strip());
    assertThat(why).contains("GPU types:", FAST, SLOW);
  }

  @Test
  @Order(4)
  @DisplayName("jobs that are deleted leave nothing behind")
  void leavesNothing() throws Exception {
    cluster.clear(SOON);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(
        what,
        SOON,
        () -> "%s: %s; %s: %s".formatted(GAINS, cluster.status(GAINS), SAME, cluster.status(SAME)),
        condition);
  }

  private boolean trainsOn(String job, String type) {
    return cluster.trains(job, SIZE)
        && training(job).filter(training -> type.equals(training.gpuType())).isPresent();
  }

  private Map<String, Double> types(String job) {
    return training(job).map(TrainingStatus::goodputByGpuType).orElse(Map.of());
  }

  private double ratio(String job) {
    Map<String, Double> types = types(job);
    return types.getOrDefault(FAST, 0.0) / types.getOrDefault(SLOW, 1.0);
  }

  private Optional<TrainingStatus> training(String job) {
    return cluster.status(job).map(TrainingJobStatus::training);
  }

  /** Leaves one of the first two nodes to new pods. */
  private void open(String name) {
    for (String node : List.of(FAST_NODE, SLOW_NODE)) {
      cluster.client().nodes().withName(node).edit(found -> cordoned(found, !node.equals(name)));
    }
  }

  private static io.fabric8.kubernetes.api.model.Node cordoned(
      io.fabric8.kubernetes.api.model.Node node, boolean cordoned) {
    node.getSpec().setUnschedulable(cordoned ? true : null);
    return node;
  }

  /** Suspends both jobs until none of their pods is left, or lets them go on. */
  private void suspend(boolean suspend) throws Exception {
    suspend(GAINS, suspend);
    suspend(SAME, suspend);
    if (suspend) {
      until(
          "no pod is left",
          () ->
              cluster
                  .client()
                  .pods()
                  .inNamespace(cluster.team())
                  .withLabel("kastor.dev/job")
                  .list()
                  .getItems()
                  .isEmpty());
    }
  }

  private void suspend(String job, boolean suspend) {
    cluster
        .job(job)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"suspend\": %s}}".formatted(suspend));
  }
}
