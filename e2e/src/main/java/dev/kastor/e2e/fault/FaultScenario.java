package dev.kastor.e2e.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Measurements;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.Tidy;
import dev.kastor.e2e.watch.WatcherProcess;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Jobs train while replicas, operators, nodes and the control plane fail at random times; all of
 * them succeed, and a watcher that knows nothing of the operator sees nothing that must not be.
 *
 * <p>The system property {@code kastor.e2e.runs} says how often, {@code kastor.e2e.seed} what is
 * drawn.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(2)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(Tidy.class)
final class FaultScenario {
  private static final String SYSTEM = "fault-system";
  private static final String TEAM = "fault-team";
  private static final int RUNS = Integer.getInteger("kastor.e2e.runs", 1);
  private static final long SEED =
      Long.getLong("kastor.e2e.seed", System.currentTimeMillis() % 1_000_000);

  /** Fewer GPUs than the jobs want and the nodes have. */
  private static final int QUOTA = 6;

  private static final int FAULTS_A_RUN = 3;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration FAILOVER = Duration.ofSeconds(15);

  /** How long a replica of a drained node may take to end. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Duration NODE_LOSS = Duration.ofSeconds(60);
  private static final Duration BOTH_ENDED = Duration.ofSeconds(60);
  private static final Duration ALL_LOST = Duration.ofSeconds(150);

  /** Time of an installation of the chart beyond which a machine counts as slow. */
  private static final Duration USUAL_INSTALLATION = Duration.ofSeconds(20);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Chart chart =
      new Chart(SYSTEM, "roundInterval=5s", "summaryInterval=2s", "checkpoints.claim=shared");
  private final SlowStore store = new SlowStore(client, TEAM);
  private final Measurements measured = new Measurements();
  private final List<Fault> deck = new ArrayList<>();
  private WatcherProcess watcher;
  private double slowness = 1;

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "shared");
    long begun = System.nanoTime();
    chart.install();
    Duration installation = Duration.ofNanos(System.nanoTime() - begun);
    slowness = Math.max(1, (double) installation.toMillis() / USUAL_INSTALLATION.toMillis());
    client
        .resource(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: Queue
            metadata: {name: %s}
            spec: {quota: {gpus: %d}}
            """
                .formatted(FaultRun.QUEUE, QUOTA))
        .create();
    store.make();
    watcher = WatcherProcess.start();
    Progress.say("seed %d: the same faults come with --seed %d".formatted(SEED, SEED));
    // Every fault comes once before any comes twice.
    Random random = new Random(SEED);
    while (deck.size() < RUNS * FAULTS_A_RUN) {
      List<Fault> all = new ArrayList<>(Fault.all());
      Collections.shuffle(all, random);
      deck.addAll(all);
    }
  }

  @AfterAll
  void end() throws Exception {
    watcher.close();
    client.resources(Queue.class).withName(FaultRun.QUEUE).delete();
    chart.uninstall();
    client.namespaces().withName(TEAM).delete();
    client.namespaces().withName(SYSTEM).delete();
    client.close();
  }

  @Test
  @Order(0)
  @DisplayName("an operator leaves the node of the one that leads once another takes it")
  void operatorsStandApart() throws Exception {
    Ground ground = new Ground(client, SYSTEM, TEAM, new Random(SEED));
    until(ground, "two operators are ready", () -> ground.readyOperators() == 2);
    Pod leader = ground.leader().orElseThrow();
    String node = leader.getSpec().getNodeName();
    List<String> others = ground.nodes().stream().filter(other -> !other.equals(node)).toList();
    others.forEach(other -> cordon(other, true));
    try {
      client
          .pods()
          .inNamespace(SYSTEM)
          .withLabel("app.kubernetes.io/part-of", "kastor")
          .withoutLabel("kastor.dev/leader", "true")
          .delete();
      until(
          ground,
          "both are on one node",
          () ->
              ground.readyOperators() == 2 && Set.copyOf(ground.operators()).equals(Set.of(node)));
    } finally {
      others.forEach(other -> cordon(other, false));
    }
    until(
        ground,
        "they are apart again",
        () -> ground.readyOperators() == 2 && Set.copyOf(ground.operators()).size() == 2);
    assertThat(ground.leader().orElseThrow().getMetadata().getUid())
        .as("the one that leads")
        .isEqualTo(leader.getMetadata().getUid());
  }

  private void cordon(String node, boolean cordoned) {
    client
        .nodes()
        .withName(node)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"unschedulable\": %s}}".formatted(cordoned));
  }

  private static void until(Ground ground, String what, Callable<Boolean> condition)
      throws Exception {
    Await.until(what, PATIENCE, () -> "operators on " + ground.operators(), condition);
  }

  @TestFactory
  @Order(1)
  Stream<DynamicTest> survive() {
    return IntStream.range(0, RUNS)
        .mapToObj(run -> {
          List<Fault> faults = deck.subList(run * FAULTS_A_RUN, (run + 1) * FAULTS_A_RUN);
          return DynamicTest.dynamicTest(
              "run %d of %d: %s".formatted(run + 1, RUNS, faults),
              () ->
                  new FaultRun(client, SYSTEM, TEAM, store, watcher, measured)
                      .survive(run, faults, new Random(SEED + run)));
        });
  }

  @Test
  @Order(2)
  @Tag("never-retried")
  @DisplayName("the watcher was awake and saw nothing that must not be")
  void nothingWasSeen() throws Exception {
    assertThat(watcher.awake()).as("the watcher is awake").isTrue();
    assertThat(watcher.violations()).isEmpty();
  }

  @Test
  @Order(3)
  @DisplayName("operators and nodes were replaced in time")
  void wasQuick() {
    measured.summary();
    Progress.say("limits are %.1f times the usual, as the installation took".formatted(slowness));
    Map<String, Duration> limits =
        Map.of(
            FaultRun.FAILOVER, FAILOVER,
            FaultRun.NODE_LOSS, NODE_LOSS,
            FaultRun.BOTH_ENDED, BOTH_ENDED,
            FaultRun.ALL_LOST, ALL_LOST);
    limits.forEach((what, limit) -> {
      if (!measured.of(what).times().isEmpty()) {
        assertThat(measured.of(what).p95())
            .as(what)
            .isLessThanOrEqualTo(Duration.ofMillis((long) (limit.toMillis() * slowness)));
      }
    });
    assertThat(measured.of(FaultRun.DRAIN).times())
        .as("all checkpoints are saved before replicas are killed")
        .allMatch(time -> time.compareTo(GRACE) <= 0);
  }
}
