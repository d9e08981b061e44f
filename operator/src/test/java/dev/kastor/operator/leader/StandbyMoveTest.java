package dev.kastor.operator.leader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.CrudServer;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.Headers;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.utils.ResponseProvider;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class StandbyMoveTest {
  private static final String NAMESPACE = "kastor-system";
  private static final String LEADER = "leader";
  private static final int STEADY = (int) StandbyMove.STEADY.toSeconds();
  private static final int LEAST = (int) StandbyMove.LEAST.toSeconds();

  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = client();
  private final List<Node> nodes = new ArrayList<>(List.of(node("a").build()));
  private final AtomicInteger evictions = new AtomicInteger();
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private int answer = 201;
  private StandbyMove move = process();

  /** As the operator's, it asks once. */
  private KubernetesClient client() {
    try (KubernetesClient plain = server.createClient()) {
      return new KubernetesClientBuilder()
          .withConfig(
              new ConfigBuilder(plain.getConfiguration()).withRequestRetryBackoffLimit(0).build())
          .build();
    }
  }

  /** What a process on standby has; its pod has the same name each time. */
  private StandbyMove process() {
    return new StandbyMove(client, NAMESPACE, Optional.of("own"), () -> nodes, () -> now);
  }

  @BeforeEach
  void evict() {
    server
        .expect()
        .post()
        .withPath("/api/v1/namespaces/%s/pods/own/eviction".formatted(NAMESPACE))
        .andReply(
            new ResponseProvider<Object>() {
              @Override
              public Object getBody(RecordedRequest request) {
                evictions.incrementAndGet();
                return new StatusBuilder().withCode(answer).build();
              }

              @Override
              public int getStatusCode(RecordedRequest request) {
                return answer;
              }

              @Override
              public Headers getHeaders() {
                return Headers.builder().build();
              }

              @Override
              public void setHeaders(Headers headers) {}
            })
        .always();
  }

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void leavesTheNodeOfTheLeaderForOneThatStays() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    looks(0);
    nodes.add(node("b").build());
    looks(1);
    looks(STEADY - 1);
    assertThat(evictions).hasValue(0);
    looks(1);
    assertThat(evictions).hasValue(1);
  }

  @Tag("slow")
  @Test
  void aNodeThatComesAndGoesHelpsNobody() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    Node other = node("b").build();
    for (int flap = 0; flap < 5; flap++) {
      nodes.add(other);
      looks(1);
      looks(STEADY - 1);
      nodes.remove(other);
      looks(1);
    }
    assertThat(evictions).hasValue(0);
  }

  @Tag("slow")
  @Test
  void whoComesBackWaitsLongerEachTime() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    nodes.add(node("b").build());
    List<Integer> seconds = new ArrayList<>();
    for (int second = 0; second < 16 * LEAST; second += 5) {
      looks(5);
      if (evictions.getAndSet(0) > 0) {
        seconds.add(second);
        // The next process knows nothing of this one.
        move = process();
      }
    }
    assertThat(seconds).hasSize(5);
    for (int i = 1; i < seconds.size(); i++) {
      assertThat(seconds.get(i) - seconds.get(i - 1))
          .isBetween(LEAST << (i - 1), (LEAST << (i - 1)) + STEADY + 10);
    }
  }

  @Tag("slow")
  @Test
  void whatHelpedBeforeIsForgotten() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    nodes.add(node("b").build());
    looks(0);
    looks(STEADY);
    assertThat(evictions).hasValue(1);
    for (int time = 2; time < 6; time++) {
      move = process();
      looks(3 * LEAST);
      looks(STEADY);
      assertThat(evictions).hasValue(time);
    }
  }

  @Test
  void staysApartAndAsksOnce() {
    pod("own", "a", true);
    pod(LEADER, "c", true);
    nodes.add(node("b").build());
    looks(0);
    looks(STEADY);
    int requests = server.getRequestCount();
    looks(LEAST);
    looks(LEAST);
    assertThat(evictions).hasValue(0);
    assertThat(server.getRequestCount()).isEqualTo(requests);
  }

  @Tag("slow")
  @Test
  void waitsUntilTheLeaderIsWell() {
    pod("own", "a", true);
    pod(LEADER, "a", false);
    nodes.add(node("b").build());
    looks(0);
    looks(STEADY);
    assertThat(evictions).hasValue(0);
    client.pods().inNamespace(NAMESPACE).withName(LEADER).delete();
    pod(LEADER, "a", true);
    looks(STEADY);
    assertThat(evictions).hasValue(1);
  }

  @Tag("slow")
  @Test
  void waitsWhereTheBudgetSaysSo() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    nodes.add(node("b").build());
    answer = 429;
    looks(0);
    looks(STEADY);
    assertThat(evictions).hasValue(1);
    answer = 201;
    looks(STEADY);
    assertThat(evictions).hasValue(2);
    assertThat(note()).startsWith("1 ");
  }

  @Test
  void leavesOnlyForNodesThatTakeIt() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    nodes.add(
        node("tainted")
            .withNewSpec()
            .addNewTaint("PreferNoSchedule", "gpu", null, "yes")
            .endSpec()
            .build());
    nodes.add(new NodeBuilder().withNewMetadata().withName("other-pool").endMetadata().build());
    looks(0);
    looks(LEAST);
    assertThat(evictions).hasValue(0);
    nodes.add(
        node("borne")
            .withNewSpec()
            .addNewTaint("NoSchedule", "team", null, "ours")
            .endSpec()
            .build());
    looks(1);
    looks(STEADY);
    assertThat(evictions).hasValue(1);
  }

  @Test
  void aTaintThatIsTakenOffIsANodeThatCame() {
    pod("own", "a", true);
    pod(LEADER, "a", true);
    nodes.add(
        node("b").withNewSpec().addNewTaint("NoExecute", "repair", null, "").endSpec().build());
    looks(0);
    looks(LEAST);
    nodes.set(1, node("b").build());
    looks(1);
    assertThat(evictions).hasValue(0);
    looks(STEADY);
    assertThat(evictions).hasValue(1);
  }

  private void looks(int secondsLater) {
    now = now.plusSeconds(secondsLater);
    move.look(LEADER);
  }

  private String note() {
    return client
        .pods()
        .inNamespace(NAMESPACE)
        .withName(LEADER)
        .get()
        .getMetadata()
        .getAnnotations()
        .getOrDefault(StandbyMove.NOTE, "");
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
