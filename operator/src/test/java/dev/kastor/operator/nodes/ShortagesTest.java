package dev.kastor.operator.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.CrudServer;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobNamespaces;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.kube.SlotWaiters;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.signal.Signals;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShortagesTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final KubernetesMockServer server = CrudServer.start();
  private final KubernetesClient client = server.createClient();
  private final Metrics metrics = new Metrics();
  private final ClusterCache cache =
      new ClusterCache(
          client,
          new Signals(),
          new SlotWaiters(),
          new Newcomers(InstantSource.system()),
          new Provenance(
              new PodNumbers(new JobRecords(), new StatusWriter(new JobRecords(), client))),
          new JobNamespaces(Set.of()));

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Test
  void whatPassesTakesNobodyAwayAndWhatLastsDoes() {
    create(pod("one", 2));
    create(pod("two", 2));
    Shortages shortages = shortages();

    assertThat(passing(shortages, 4, NOW)).isEmpty();
    assertThat(passing(shortages, 0, NOW.plusSeconds(1))).containsExactly("n1");
    assertThat(overcommitted()).isEqualTo(1);
    assertThat(passing(shortages, 0, NOW.plusSeconds(180))).containsExactly("n1");
    assertThat(passing(shortages, 4, NOW.plusSeconds(181))).as("the plug-in is back").isEmpty();
    assertThat(overcommitted()).isZero();
    assertThat(passing(shortages, 3, NOW.plusSeconds(182))).containsExactly("n1");
    assertThat(passing(shortages, 3, NOW.plusSeconds(182 + 180))).as("a GPU is gone").isEmpty();
    assertThat(overcommitted()).isEqualTo(1);
  }

  @Test
  void aReplicaOfAWholeNodeThatLostAGpuIsOneTooMany() {
    create(pod("whole", 8));
    Shortages shortages = shortages();
    assertThat(passing(shortages, 8, NOW)).isEmpty();
    assertThat(passing(shortages, 7, NOW)).containsExactly("n1");
  }

  private Set<String> passing(Shortages shortages, int allocatable, Instant now) {
    Node node =
        new NodeBuilder()
            .withNewMetadata()
            .withName("n1")
            .endMetadata()
            .withNewStatus()
            .addToAllocatable("kastor.dev/slot", new Quantity("" + allocatable))
            .endStatus()
            .build();
    return shortages.passing(List.of(node), now);
  }

  private double overcommitted() {
    return metrics.registry().getSampleValue("kastor_nodes_overcommitted");
  }

  private Shortages shortages() {
    cache.start();
    OperatorConfig config =
        new SmallRyeConfigBuilder()
            .withMapping(OperatorConfig.class)
            .addDefaultInterceptors()
            .addDiscoveredConverters()
            .withValidateUnknown(false)
            .withDefaultValues(Map.of("kastor.slot-resource", "kastor.dev/slot"))
            .build()
            .getConfigMapping(OperatorConfig.class);
    EventRecorder events =
        new EventRecorder(new JobRecords(), client, metrics, InstantSource.system());
    return new Shortages(cache, events, metrics, config);
  }

  private void create(Pod pod) {
    client.pods().resource(pod).create();
  }

  private static Pod pod(String name, int slots) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("team")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withNodeName("n1")
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToLimits("kastor.dev/slot", new Quantity(Integer.toString(slots)))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Running")
        .endStatus()
        .build();
  }
}
