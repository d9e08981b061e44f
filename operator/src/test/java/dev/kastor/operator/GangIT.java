package dev.kastor.operator;

import static dev.kastor.operator.TestBench.NAMESPACE;
import static dev.kastor.operator.TestBench.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.pods.Gates;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.quarkus.test.common.QuarkusTestResource;
import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.URI;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs whose pods are of any container. */
// What the test waits for is there; a null would fail it as it should.
@NullUnmarked
@QuarkusTest
@QuarkusTestResource(FakeApiServer.class)
class GangIT {
  private static final String GANG =
      """
      "elastic": {"minReplicas": 3, "maxReplicas": 3},
      "faultTolerance": {"maxRestarts": 1, "backoffSeconds": 0, "maxBackoffSeconds": 1},
      "template": {"metadata": {
        "labels": {"team": "vision", "kastor.dev/leader": "true"},
        "annotations": {"kastor.dev/node": "elsewhere"}},
                   "spec": {"containers": [{"name": "main", "image": "trainer:1"%s}]}}
      """;

  private static final String TWO_SLOTS =
      ", \"resources\": {\"limits\": {\"kastor.dev/slot\": \"2\"}}";

  private static final String TWO =
      """
      "elastic": {"minReplicas": 2, "maxReplicas": 2%s},
      "template": {"spec": {"containers": [{"name": "main", "image": "trainer:1"%s}]}}
      """;

  @TestHTTPResource(value = "/", tls = true)
  URI base;

  private final TestBench bench = new TestBench();
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
  void removeJob() {
    bench.clear();
    agents.close();
    bench.client.resources(ClusterTrainingProfile.class).delete();
  }

  @Test
  void allPodsFindEachOtherAndSucceedTogether() {
    bench.submit("", GANG.formatted(""));
    await("it runs", () -> bench.in(Phase.Running));
    List<Pod> pods = pods();
    assertThat(pods).hasSize(3).allMatch(pod -> pod.getSpec().getSchedulingGates().isEmpty());
    for (int rank = 0; rank < 3; rank++) {
      Pod pod = pods.get(rank);
      assertThat(pod.getSpec().getHostname()).isEqualTo(bench.name + "-" + rank);
      assertThat(pod.getSpec().getSubdomain()).isEqualTo(bench.name + "-gang");
      assertThat(pod.getMetadata().getLabels())
          .containsEntry("team", "vision")
          .as("marks of the operator's in a template")
          .doesNotContainKey("kastor.dev/leader");
      assertThat(pod.getMetadata().getAnnotations()).containsEntry("kastor.dev/node", "n1");
      assertThat(env(pod))
          .containsEntry("MASTER_ADDR", "%s-0.%s-gang.team.svc".formatted(bench.name, bench.name))
          .containsEntry("WORLD_SIZE", "3")
          .containsEntry("RANK", "" + rank)
          .containsEntry("PET_NODE_RANK", "" + rank)
          .containsEntry("JAX_PROCESS_ID", "" + rank);
      assertThat(pod.getSpec().getContainers().getFirst().getResources().getLimits())
          .containsKey("kastor.dev/slot");
    }
    var service =
        bench.client.services().inNamespace(NAMESPACE).withName(bench.name + "-gang").get();
    assertThat(service.getSpec().getClusterIP()).isEqualTo("None");
    agents.succeed(NAMESPACE, pods.get(0).getMetadata().getName());
    agents.succeed(NAMESPACE, pods.get(1).getMetadata().getName());
    assertThat(bench.in(Phase.Running)).as("one still works").isTrue();
    agents.succeed(NAMESPACE, pods.get(2).getMetadata().getName());
    await("it succeeds", () -> bench.in(Phase.Succeeded));
    assertThat(bench.condition("Complete").getReason()).isEqualTo("PodsSucceeded");
    await("its slots are free", () -> bench.allocated() == 0);
  }

  @Test
  void itsPodsHaveNoSayInAMembership() throws Exception {
    bench.submit("", GANG.formatted(""));
    await("it runs", () -> bench.in(Phase.Running));
    String pod = bench.name + "-0";
    String url = base.toString();
    try (var agent =
        new AgentClient(url.substring(0, url.length() - 1), FakeApiServer.certificate())) {
      var answer =
          agent.get(
              "/v1/jobs/%s/%s/membership?pod=%s&address=127.0.0.1:1&generation=0&phase=READY&step=-1&wait=0"
                  .formatted(NAMESPACE, bench.name, pod),
              FakeApiServer.token(NAMESPACE, bench.name, pod));
      assertThat(answer.statusCode()).isEqualTo(403);
      assertThat(answer.body()).contains("is a gang");
    }
    assertThat(bench.status().orElseThrow().generation()).isNull();
  }

  @Test
  void aFailedPodStartsAllAgainUntilItIsEnough() {
    bench.submit("", GANG.formatted(""));
    await("it runs", () -> bench.in(Phase.Running));
    agents.crash(NAMESPACE, bench.name + "-1", 3);
    await("three others run", () -> agents.started().contains(bench.name + "-5"));
    await("it runs again", () -> bench.in(Phase.Running) && live().size() == 3);
    assertThat(bench.status().orElseThrow().failuresSinceProgress()).isEqualTo(1);
    assertThat(bench.status().orElseThrow().restarts()).isEqualTo(1);
    assertThat(live()).allMatch(pod -> env(pod).get("WORLD_SIZE").equals("3"));
    agents.crash(NAMESPACE, bench.name + "-3", 4);
    await("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("TooManyFailures");
    assertThat(bench.condition("Failed").getMessage()).contains("exit code 4");
    await("nothing of it runs", () -> live().isEmpty());
  }

  @Test
  void losesItsPodsWhenSuspendedAndGetsNewOnesAfter() {
    bench.submit("", GANG.formatted(""));
    await("it runs", () -> bench.in(Phase.Running));
    bench.suspend(true);
    await("it holds nothing", () -> bench.in(Phase.Suspended) && bench.pods().isEmpty());
    bench.suspend(false);
    await("it runs again", () -> bench.in(Phase.Running));
    assertThat(live()).hasSize(3);
    assertThat(bench.status().orElseThrow().failuresSinceProgress()).isZero();
  }

  @Test
  void aTemplateThatNoPodCanBeMadeOfNamesTheField() {
    bench.submit("", GANG.formatted(", \"ports\": [{\"containerPort\": 0}]"));
    await("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("InvalidTemplate");
    assertThat(bench.condition("Failed").getMessage())
        .isEqualTo("spec.template.spec.containers[0].ports[0].containerPort: Required value");
    assertThat(bench.status().orElseThrow().allocation()).as("no policy heard of it").isNull();
  }

  @Test
  void aTemplatesLimitSaysHowManySlotsAReplicaHas() {
    bench.submit("", TWO.formatted("", TWO_SLOTS));
    await("both pods are there", () -> bench.pods().size() == 2);
    for (Pod pod : bench.pods()) {
      assertThat(pod.getSpec().getContainers().getFirst().getResources().getLimits())
          .containsEntry("kastor.dev/slot", new Quantity("2"));
      assertThat(env(pod))
          .containsEntry("WORLD_SIZE", "2")
          .containsEntry("PET_NPROC_PER_NODE", "2")
          .containsEntry("KASTOR_LOCAL_SLOTS", "2");
    }
    var allocation = bench.status().orElseThrow().allocation();
    assertThat(allocation.replicas()).isEqualTo(2);
    assertThat(allocation.nodes()).isEqualTo(Map.of("n1", 2));
    assertThat(allocation.slotsPerReplica()).isEqualTo(2);
    assertThat(allocation.slots()).isEqualTo(4);
  }

  @Test
  void slotsThatTemplateAndSpecSayDifferentlyAreRefused() {
    bench.submit("", TWO.formatted(", \"slotsPerReplica\": 3", TWO_SLOTS));
    await("it fails", () -> bench.in(Phase.Failed));
    assertThat(bench.condition("Failed").getReason()).isEqualTo("InvalidTemplate");
    assertThat(bench.condition("Failed").getMessage())
        .startsWith("spec.template.spec.containers[0].resources.limits[kastor.dev/slot]: ")
        .contains("ask for 2 slots together", "spec.elastic.slotsPerReplica is 3");
  }

  @Test
  void aProfileOfOtherNamespacesMakesNoPod() {
    String profile = "foreign" + bench.name;
    bench
        .client
        .resource(
            Serialization.unmarshal(
                "apiVersion: kastor.dev/v1alpha1\nkind: ClusterTrainingProfile\nmetadata: {name: %s}\nspec: {namespaces: [other]}"
                    .formatted(profile),
                ClusterTrainingProfile.class))
        .create();
    bench.submit("", GANG.formatted("") + ", \"profile\": \"%s\"".formatted(profile));
    await(
        "it says so",
        () ->
            bench.in(Phase.Queued)
                && bench.condition("Queued").getReason().equals("ProfileNotAllowed"));
    assertThat(bench.condition("Queued").getMessage())
        .contains(profile)
        .contains("does not list namespace");
    await("an event says so", () -> !events("ProfileNotAllowed").isEmpty());
    assertThat(bench.status().orElseThrow().allocation()).as("no policy heard of it").isNull();
    bench
        .client
        .resources(ClusterTrainingProfile.class)
        .withName(profile)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"namespaces\": null}}");
    await("it starts", () -> !bench.in(Phase.Queued));
    bench.client.resources(ClusterTrainingProfile.class).withName(profile).delete();
  }

  @Test
  void waitsForTheProfileThatItNames() {
    String profile = "prof" + bench.name;
    bench.submit("", GANG.formatted("") + ", \"profile\": \"%s\"".formatted(profile));
    await(
        "it says so",
        () ->
            bench.in(Phase.Queued)
                && bench.condition("Queued").getReason().equals("ProfileNotFound"));
    assertThat(bench.condition("Queued").getMessage()).contains("spec.profile").contains(profile);
    await("an event says so", () -> !events("ProfileNotFound").isEmpty());
    assertThat(events("ProfileNotFound").getFirst().getMessage()).contains(profile);
    bench
        .client
        .resources(ClusterTrainingProfile.class)
        .resource(
            Serialization.unmarshal(
                """
                {"apiVersion": "kastor.dev/v1alpha1", "kind": "ClusterTrainingProfile",
                 "metadata": {"name": "%s"},
                 "spec": {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
                          "podLabels": {"team": "platform", "cost": "a"},
                          "resources": {"cpu": "2"}}}
                """
                    .formatted(profile),
                ClusterTrainingProfile.class))
        .create();
    await("it runs", () -> bench.in(Phase.Running));
    assertThat(events("ProfileNotFound")).as("told once").hasSize(1);
    Pod pod = pods().getFirst();
    assertThat(env(pod)).containsEntry("NCCL_DEBUG", "INFO");
    assertThat(pod.getMetadata().getLabels())
        .containsEntry("team", "vision")
        .containsEntry("cost", "a");
    assertThat(pod.getSpec().getContainers().getFirst().getResources().getRequests())
        .containsKey("cpu");
  }

  @Test
  void podsOfAProgramStartTogetherToo() {
    agents.mute(bench.name + "-0");
    bench.program("\"elastic\": {\"minReplicas\": 2, \"maxReplicas\": 2}");
    await("both start", () -> agents.started().size() == 2);
    assertThat(bench.pods())
        .allMatch(pod ->
            pod.getSpec().getSchedulingGates().stream()
                .noneMatch(gate -> gate.getName().equals(Gates.GANG)));
    agents.unmute(bench.name + "-0");
    await("it runs", () -> bench.in(Phase.Running));
  }

  private List<Event> events(String reason) {
    return bench.client.v1().events().inNamespace(NAMESPACE).list().getItems().stream()
        .filter(event -> bench.name.equals(event.getInvolvedObject().getName()))
        .filter(event -> reason.equals(event.getReason()))
        .toList();
  }

  private List<Pod> pods() {
    return bench.pods().stream()
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
        .toList();
  }

  private List<Pod> live() {
    return pods().stream().filter(pod -> "Running".equals(pod.getStatus().getPhase())).toList();
  }

  private static Map<String, String> env(Pod pod) {
    Map<String, String> values = new HashMap<>();
    for (EnvVar variable : pod.getSpec().getContainers().getFirst().getEnv()) {
      values.put(variable.getName(), variable.getValue());
    }
    return values;
  }
}
