package dev.kastor.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.leader.Awake;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import jakarta.inject.Inject;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@TestProfile(OtherSettings.class)
class NodeFaultIT {
  private static final String NAMESPACE = "team";
  private static final String LEASES = "kube-node-lease";
  private static final List<String> NODES = List.of("n1", "n2");

  private static final Duration MINUTE = Duration.ofMinutes(1);

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  @TestHTTPResource("/")
  URI plain;

  @Inject MovableClock clock;
  @Inject Awake awake;

  private final KubernetesClient client = FakeApiServer.client();
  private FakeAgents agents;
  private String name;

  /** Nodes whose kubelet renews its lease. */
  private final Set<String> well = new TreeSet<>();

  @BeforeEach
  void startKubelet() {
    agents =
        new FakeAgents(
            client,
            new AgentClient(base.toString().replaceAll("/$", ""), FakeApiServer.certificate()));
    NODES.forEach(this::freshNode);
    name = "job" + System.nanoTime();
    submit(name, 2);
    await("it trains on one node", () -> members() == 2 && nodes().size() == 1);
  }

  @AfterEach
  void removeJob() {
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).delete();
    await("no pods are left", () -> pods().isEmpty());
    agents.close();
    for (String node : NODES) {
      client.leases().inNamespace(LEASES).withName(node).delete();
      client.nodes().withName(node).delete();
    }
  }

  @Test
  void aCordonMovesNobody() {
    String node = node();
    long version = status().allocation().version();
    change(node, builder -> builder.editOrNewSpec().withUnschedulable(true).endSpec());
    awaitRounds(3);
    assertThat(status().allocation().version()).isEqualTo(version);
    assertThat(agents.started()).hasSize(2);
    assertThat(members()).isEqualTo(2);
    // What drain does next: the pods are evicted.
    pods().forEach(pod -> client.pods().resource(pod).delete());
    await(
        "it trains on the other node", () -> members() == 2 && nodes().equals(Set.of(other(node))));
  }

  @Test
  void aNoticeMovesTheJobWhileItTrains() {
    String node = node();
    change(
        node,
        builder ->
            builder
                .editOrNewSpec()
                .addNewTaint()
                .withKey("aws-node-termination-handler/spot-itn")
                .withEffect("NoSchedule")
                .endTaint()
                .endSpec());
    await(
        "it trains on the other node", () -> members() == 2 && nodes().equals(Set.of(other(node))));
    assertThat(status().failuresSinceProgress()).isZero();
  }

  @Test
  void aNodeWhoseReplicasAndKubeletAreSilentIsLeft() {
    goesSilent();
  }

  private void goesSilent() {
    String node = node();
    double lost = nodesLost();
    fallSilent(node);
    pods().forEach(pod -> agents.vanish(pod.getMetadata().getName()));
    passUntil("the node is taken for dead", () -> nodesLost() > lost);
    await(
        "it trains on the other node", () -> members() == 2 && nodes().equals(Set.of(other(node))));
    assertThat(nodesLost()).as("nodes taken for dead").isEqualTo(lost + 1);
  }

  @Test
  void whatIsOnALostNodeTakesNothingOfAFullQuota() {
    client
        .resource(
            Serialization.unmarshal(
                """
                apiVersion: kastor.dev/v1alpha1
                kind: Queue
                metadata: {name: %s}
                spec: {quota: {gpus: 2}}
                """
                    .formatted(Queue.DEFAULT),
                Queue.class))
        .create();
    try {
      goesSilent();
      assertThat(status().allocation().atMost()).isEqualTo(2);
    } finally {
      client.resources(Queue.class).withName(Queue.DEFAULT).delete();
    }
  }

  @Test
  void silentReplicasOnANodeWhoseKubeletIsWellAreNoReasonToLeaveIt() {
    String node = node();
    String second = other(node);
    String there = submit("there", 1);
    await("another job trains on the other node", () -> agents.membership(there).isPresent());
    long version = status().allocation().version();
    double lost = nodesLost();
    fallSilent(second);
    // Those of the node whose kubelet is well fall silent first.
    pods().stream()
        .map(pod -> pod.getMetadata().getName())
        .sorted(Comparator.comparing(there::equals))
        .forEach(agents::vanish);
    passUntil("the other node is taken for dead", () -> nodesLost() > lost);
    awaitRounds(3);
    assertThat(nodesLost()).isEqualTo(lost + 1);
    assertThat(status().allocation().version()).isEqualTo(version);
  }

  /** Submits a job of so many replicas; the name of its first pod. */
  private String submit(String job, int replicas) {
    TrainingJob made = TestJobs.job(job, replicas, replicas, GoodputSpec.Mode.Fixed);
    made.getMetadata().setUid(null);
    client.resources(TrainingJob.class).inNamespace(NAMESPACE).resource(made).create();
    return job + "-0";
  }

  /** Waits until so many more rounds have decided; the first may have begun before. */
  private void awaitRounds(int more) {
    double before = PlainHttp.metric(plain, "kastor_decision_seconds_count");
    await(
        more + " more rounds",
        () -> PlainHttp.metric(plain, "kastor_decision_seconds_count") >= before + more);
  }

  private double nodesLost() {
    return PlainHttp.metric(plain, "kastor_nodes_lost_total");
  }

  private void freshNode(String node) {
    client
        .nodes()
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(node)
                .addToLabels("kubernetes.io/hostname", node)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .withAllocatable(Map.of("kastor.dev/slot", new Quantity("2")))
                .endStatus()
                .build())
        .createOr(existing -> existing.update());
    well.add(node);
    renew(node);
  }

  /** The kubelet of the node last renewed its lease long ago. */
  private void fallSilent(String node) {
    well.remove(node);
    lease(node, clock.instant().minus(MINUTE));
  }

  /** A kubelet that is well, on a machine that is slow, too. */
  private void renew(String node) {
    lease(node, clock.instant().plus(MINUTE));
  }

  /** Lets time go by for the operator until it is so: in the test nothing is silent for long. */
  private void passUntil(String what, BooleanSupplier condition) {
    await(
        what,
        () -> {
          well.forEach(this::renew);
          clock.pass(Duration.ofSeconds(1), awake);
          return condition.getAsBoolean();
        });
  }

  private void lease(String node, Instant renewed) {
    client
        .leases()
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(LEASES)
                .withName(node)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(node)
                .withRenewTime(renewed.atZone(ZoneOffset.UTC))
                .endSpec()
                .build())
        .createOr(existing -> existing.update());
  }

  private void change(String node, UnaryOperator<NodeBuilder> change) {
    Node now = client.nodes().withName(node).get();
    client.nodes().resource(change.apply(new NodeBuilder(now)).build()).update();
  }

  private static String other(String node) {
    return node.equals("n1") ? "n2" : "n1";
  }

  private String node() {
    return nodes().iterator().next();
  }

  private Set<String> nodes() {
    var allocation = status() == null ? null : status().allocation();
    if (allocation == null || allocation.nodes() == null) {
      return Set.of();
    }
    // The mock server keeps keys for which a merge patch says null.
    return allocation.nodes().entrySet().stream()
        .filter(entry -> entry.getValue() != null && entry.getValue() > 0)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private TrainingJobStatus status() {
    return client
        .resources(TrainingJob.class)
        .inNamespace(NAMESPACE)
        .withName(name)
        .get()
        .getStatus();
  }

  private List<Pod> pods() {
    return client.pods().inNamespace(NAMESPACE).list().getItems();
  }

  /** Replicas that train in the newest generation on the nodes of the allocation. */
  private long members() {
    TrainingJob job =
        client.resources(TrainingJob.class).inNamespace(NAMESPACE).withName(name).get();
    if (job.getStatus() == null || job.getStatus().generation() == null) {
      return 0;
    }
    long generation = job.getStatus().generation();
    return pods().stream()
        .map(pod -> agents.membership(pod.getMetadata().getName()))
        .filter(membership -> membership.isPresent() && membership.get().generation() == generation)
        .count();
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + 600_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
