package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.Labels;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pods that say of themselves what only the operator may say. */
// As in the operator's tests: a null would fail the test as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
@Tag("never-retried")
class ProvenanceIT {
  private static final String HOSTILE = "hostile";
  private static final String TWO = "\"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}";

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  private final TestBench bench = new TestBench();
  private final TestBench other = new TestBench();
  private FakeAgents agents;

  @BeforeEach
  void startKubelet() {
    String url = base.toString();
    agents =
        new FakeAgents(
            bench.client,
            new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate()));
    bench.node("n1", 4);
  }

  @AfterEach
  void removeAll() {
    bench.client.pods().inNamespace(HOSTILE).delete();
    bench.client.pods().inNamespace(NAMESPACE).withLabel("hostile").delete();
    other.clear();
    bench.clear();
    List.of("n2", "n3").forEach(node -> bench.client.nodes().withName(node).delete());
    agents.close();
  }

  @Test
  void aPodThatNoSchedulerPlacedTakesNothing() {
    bench.program(TWO);
    await("it runs", () -> bench.in(Phase.Running));
    make(pod(HOSTILE, "claims-a-node", Map.of(), List.of(), 100));
    make(onNode(pod(HOSTILE, "names-a-node", Map.of(), List.of(), 100), "n1", "Pending"));

    other.program(TWO);

    await("another runs beside it", () -> other.in(Phase.Running));
    assertThat(bench.allocated()).isEqualTo(2);
    assertThat(bench.status().orElseThrow().allocation().version()).isEqualTo(1);
  }

  @Test
  void aPodThatClaimsToBeOfAJobTakesNothingEither() {
    bench.program("\"suspend\": true, " + TWO);
    await("it is suspended", () -> bench.in(Phase.Suspended));
    make(pod(NAMESPACE, bench.name + "-7", Labels.of(bench.name), owner(), 100));
    make(pod(NAMESPACE, "elsewhere-0", Labels.of("elsewhere"), owner(), 100));

    other.program(TWO);

    await("another runs on the node", () -> other.in(Phase.Running));
  }

  @Test
  void aPodThatRunsCountsWhateverItClaimsToBe() {
    bench.program("\"elastic\": {\"minReplicas\": 4, \"maxReplicas\": 4}");
    // It is there long before its node, so that no round knows the node without it.
    make(
        onNode(
            pod(NAMESPACE, bench.name + "-7", Labels.of(bench.name), owner(), 3), "n2", "Running"));
    await("the first node is full", () -> bench.in(Phase.Running));
    bench.node("n2", 4);
    bench.node("n3", 4);

    other.program(TWO);

    await("another runs", () -> other.in(Phase.Running));
    assertThat(other.status().orElseThrow().allocation().nodes().keySet()).isEqualTo(Set.of("n3"));
  }

  @Test
  void aPodOfNoTrainingJobIsNotRemovedForItsLabels() {
    Pod stranger = pod(HOSTILE, "gone-0", Labels.of("gone"), List.of(), 1);
    make(stranger);
    Pod orphan = pod(HOSTILE, "gone-1", Labels.of("gone"), List.of(of("gone", "no-such")), 1);
    make(orphan);

    await(
        "the one that says it was of a job is removed",
        () -> bench.client.pods().inNamespace(HOSTILE).withName("gone-1").get() == null);
    assertThat(bench.client.pods().inNamespace(HOSTILE).withName("gone-0").get()).isNotNull();
  }

  @Test
  void aPodOnItsWayHoldsItsSlotUntilItIsGoneThoughItsJobWentBefore() {
    bench.node("n1", 1);
    agents.refuse(bench.name);
    bench.program("");
    await("its pod waits", () -> !bench.pods().isEmpty());
    String pod = bench.pods().getFirst().getMetadata().getName();
    FakeApiServer.loseAnswer("DELETE", ".*/pods/" + pod, "", Duration.ofSeconds(2));
    bench.resource().delete();

    other.program("");

    await("another is given the slot", () -> other.allocated() == 1);
    await(
        "it has a pod",
        () -> {
          boolean made = !other.pods().isEmpty();
          assertThat(made && !bench.pods().isEmpty()).as("both hold the slot").isFalse();
          return made;
        });
  }

  private List<OwnerReference> owner() {
    return List.of(of(bench.name, bench.resource().get().getMetadata().getUid()));
  }

  private static OwnerReference of(String job, String uid) {
    return new OwnerReferenceBuilder()
        .withApiVersion(new TrainingJob().getApiVersion())
        .withKind("TrainingJob")
        .withName(job)
        .withUid(uid)
        .withController(true)
        .build();
  }

  private void make(Pod pod) {
    bench.client.pods().resource(pod).create();
  }

  private static Pod onNode(Pod pod, String node, String phase) {
    return new PodBuilder(pod)
        .editSpec()
        .withSchedulingGates()
        .withNodeName(node)
        .endSpec()
        .withNewStatus()
        .withPhase(phase)
        .endStatus()
        .build();
  }

  private static Pod pod(
      String namespace,
      String name,
      Map<String, String> labels,
      List<OwnerReference> owners,
      int slots) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withLabels(labels)
        .addToLabels("hostile", "true")
        .addToAnnotations(Labels.NODE, "n1")
        .withOwnerReferences(owners)
        .endMetadata()
        .withNewSpec()
        .addNewSchedulingGate("example.com/never")
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToLimits("kastor.dev/slot", new Quantity(Integer.toString(slots)))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }
}
