package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.CrudServer;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobNamespaces;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.Newcomers;
import dev.kastor.operator.kube.PodNumbers;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.kube.SlotWaiters;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.SlowNodes;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class NodeMapperTest {
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
  private final Node node =
      new NodeBuilder()
          .withNewMetadata()
          .withName("n1")
          .endMetadata()
          .withNewStatus()
          .addToAllocatable("kastor.dev/slot", new Quantity("4"))
          .endStatus()
          .build();

  @AfterEach
  void stop() {
    client.close();
    server.destroy();
  }

  @Tag("slow")
  @Test
  void whatALeavingPodHoldsIsGivenAwayUntilItIsLate() {
    TrainingJob job =
        client
            .resources(TrainingJob.class)
            .inNamespace("team")
            .resource(TestJobs.job("bert", 1, 4, GoodputSpec.Mode.Adaptive))
            .create();
    create(
        new PodBuilder(pod("bert-0", 1))
            .editMetadata()
            .withLabels(Labels.of("bert"))
            .addNewOwnerReference()
            .withController(true)
            .withApiVersion(job.getApiVersion())
            .withKind("TrainingJob")
            .withName("bert")
            .withUid(job.getMetadata().getUid())
            .endOwnerReference()
            .withFinalizers("example.com/never")
            .endMetadata()
            .build());
    var leaves = client.pods().inNamespace("team").withName("bert-0");
    leaves.delete();
    Instant asked = PodPlace.askedToLeave(leaves.require()).orElseThrow();
    NodeMapper mapper = mapper();

    assertThat(slots(mapper, asked.plusSeconds(59))).isEqualTo(4);
    assertThat(slots(mapper, asked.plusSeconds(61))).isEqualTo(3);
  }

  private int slots(NodeMapper mapper, Instant now) {
    var round = new RoundNodes(Set.of("n1"), Map.of(), Set.of());
    return mapper.nodes(List.of(node), round, now).stream()
        .mapToInt(dev.kastor.scheduler.model.Node::slots)
        .sum();
  }

  private NodeMapper mapper() {
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
    SlowNodes slow =
        new SlowNodes(
            new EventRecorder(new JobRecords(), client, metrics, InstantSource.system()), metrics);
    return new NodeMapper(cache, slow, config);
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
