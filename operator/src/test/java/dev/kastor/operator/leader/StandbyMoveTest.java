package dev.kastor.operator.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class StandbyMoveTest {
  private static final String NAMESPACE = "kastor-system";
  private static final int STEADY = (int) StandbyMove.STEADY.toSeconds();

  private final KubernetesMockServer server = server();
  private final KubernetesClient client = server.createClient();
  private final List<Node> nodes = new ArrayList<>(List.of(node("a").build()));
  private long nanos;
  private final StandbyMove move =
      new StandbyMove(client, NAMESPACE, Optional.of("own"), () -> nodes, () -> nanos);

  private static KubernetesMockServer server() {
    Map<ServerRequest, Queue<ServerResponse>> responses = new HashMap<>();
    KubernetesMockServer server =
        new KubernetesMockServer(
            new Context(),
            new MockWebServer(),
            responses,
            new KubernetesMixedDispatcher(responses),
            false);
    server.init(InetAddress.getLoopbackAddress(), 0);
    return server;
  }

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void leavesTheNodeOfTheLeaderForOneThatStays() {
    pod("own", "a", false);
    pod("leader", "a", true);
    looks(0);
    nodes.add(node("b").build());
    looks(0);
    looks(STEADY - 1);
    assertThat(isThere()).isTrue();
    looks(1);
    assertThat(isThere()).isFalse();
    assertThat(client.pods().inNamespace(NAMESPACE).withName("leader").get()).isNotNull();
  }

  @Test
  void staysWithNodesThatWereThereBefore() {
    nodes.add(node("b").build());
    pod("own", "a", false);
    pod("leader", "a", true);
    looks(0);
    looks(STEADY);
    looks(STEADY);
    assertThat(isThere()).isTrue();
  }

  @Test
  void countsFromTheLastTimeThatTheNodeCame() {
    nodes.add(node("b").build());
    pod("own", "a", false);
    pod("leader", "a", true);
    looks(0);
    Node gone = nodes.removeLast();
    looks(1);
    nodes.add(gone);
    looks(1);
    nodes.removeLast();
    looks(STEADY);
    nodes.add(gone);
    looks(1);
    looks(STEADY - 1);
    assertThat(isThere()).isTrue();
    looks(1);
    assertThat(isThere()).isFalse();
  }

  @Test
  void staysApart() {
    pod("own", "a", false);
    pod("leader", "c", true);
    comes(node("b"));
    assertThat(isThere()).isTrue();
  }

  @Test
  void staysAsLongAsTheLeaderIsNotWell() {
    pod("own", "a", false);
    pod("leader", "a", false);
    comes(node("b"));
    assertThat(isThere()).isTrue();
  }

  @Test
  void leavesOnlyForNodesThatTakeIt() {
    pod("own", "a", false);
    pod("leader", "a", true);
    comes(node("tainted").withNewSpec().addNewTaint("NoSchedule", "gpu", null, "yes").endSpec());
    comes(new NodeBuilder().withNewMetadata().withName("other-pool").endMetadata());
    assertThat(isThere()).isTrue();
    comes(node("borne").withNewSpec().addNewTaint("NoSchedule", "team", null, "ours").endSpec());
    assertThat(isThere()).isFalse();
  }

  private void comes(NodeBuilder node) {
    looks(0);
    nodes.add(node.build());
    looks(0);
    looks(STEADY);
  }

  private void looks(int secondsLater) {
    nanos += Duration.ofSeconds(secondsLater).toNanos();
    move.look();
  }

  private boolean isThere() {
    return client.pods().inNamespace(NAMESPACE).withName("own").get() != null;
  }

  /** A node of the pool that the operators ask for. */
  private static NodeBuilder node(String name) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .addToLabels("pool", "system")
        .endMetadata();
  }

  private void pod(String name, String node, boolean ready) {
    var pod =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(NAMESPACE)
            .addToLabels(LeaderLabel.KEY, name.equals("leader") ? LeaderLabel.VALUE : "false")
            .endMetadata()
            .withNewSpec()
            .withNodeName(node)
            .addToNodeSelector("pool", "system")
            .addNewToleration("NoSchedule", "team", "Equal", null, "ours")
            .endSpec()
            .withNewStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus(ready ? "True" : "False")
            .endCondition()
            .endStatus()
            .build();
    client.pods().inNamespace(NAMESPACE).resource(pod).create();
  }
}
