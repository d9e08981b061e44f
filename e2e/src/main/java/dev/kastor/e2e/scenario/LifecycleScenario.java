package dev.kastor.e2e.scenario;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Names;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.SharedChart;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import dev.kastor.e2e.watch.Pods;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Gangs of any container, profiles, deadlines and a time to live, with real pods. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(7)
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class LifecycleScenario {
  private static final String SYSTEM = SharedChart.NAMESPACE;
  private static final String TEAM = "life-team";
  private static final String PAUSE = "kastor.dev/e2e/pause:1";
  private static final Duration SOON = Duration.ofMinutes(3);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(TEAM);
  }

  @AfterAll
  void remove() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    client.resources(ClusterTrainingProfile.class).delete();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("pods of any image start together, know their ranks and find rank 0 by its name")
  void findEachOther() throws Exception {
    submit("waiters", "", 3, image(PAUSE));
    until("the gang runs", () -> jobs.in(Phase.Running, "waiters"));
    List<Pod> pods = jobs.running("waiters");
    assertThat(pods)
        .hasSize(3)
        .allMatch(pod -> pod.getSpec().getSchedulingGates().isEmpty())
        .allMatch(pod -> "alpha".equals(pod.getSpec().getNodeName()));
    Pod first =
        pods.stream()
            .filter(pod -> "waiters-0".equals(pod.getSpec().getHostname()))
            .findFirst()
            .orElseThrow();
    until(
        "the name of rank 0 leads to its pod",
        () ->
            Names.address("waiters-0.waiters-gang.%s.svc".formatted(TEAM))
                .equals(Optional.of(first.getStatus().getPodIP())));
  }

  @Test
  @Order(2)
  @DisplayName("a gang that loses a pod starts again as a whole, and holds nothing when suspended")
  void startsAgainAsAWhole() throws Exception {
    Set<String> before = uids("waiters");
    client.pods().resource(jobs.running("waiters").getFirst()).delete();
    until(
        "three other pods run",
        () ->
            jobs.in(Phase.Running, "waiters")
                && jobs.running("waiters").size() == 3
                && uids("waiters").stream().noneMatch(before::contains));
    patch("waiters", "{\"spec\": {\"suspend\": true}}");
    until(
        "it is suspended and its pods are gone",
        () -> jobs.in(Phase.Suspended, "waiters") && jobs.pods("waiters").isEmpty());
  }

  @Test
  @Order(3)
  @DisplayName("pods of a gang that ask for two GPUs each get them, as many as their node has")
  void severalGpusAPod() throws Exception {
    submit("wide", "", 2, image(PAUSE) + ", \"resources\": {\"limits\": {\"nvidia.com/gpu\": 2}}");
    until("the gang runs", () -> jobs.in(Phase.Running, "wide"));
    var allocation = requireNonNull(jobs.status("wide").orElseThrow().allocation());
    assertThat(allocation.replicas()).isEqualTo(2);
    assertThat(allocation.slots()).as("GPUs of both").isEqualTo(4);
    assertThat(jobs.running("wide"))
        .hasSize(2)
        .allMatch(pod -> Pods.gpus(pod) == 2)
        .allMatch(pod -> allocation.nodes().containsKey(pod.getSpec().getNodeName()))
        .allMatch(pod ->
            pod.getSpec().getContainers().getFirst().getEnv().stream()
                .anyMatch(variable ->
                    variable.getName().equals("PET_NPROC_PER_NODE")
                        && variable.getValue().equals("2")));
    client.resources(TrainingJob.class).inNamespace(TEAM).withName("wide").delete();
    until("it is gone with its pods", () -> gone("wide"));
  }

  @Test
  @Order(4)
  @DisplayName(
      "a gang succeeds when every rank did its part, and is deleted after its time to live")
  void succeedsAndGoes() throws Exception {
    String agent = agentImage();
    submit(
        "echo",
        "\"lifecycle\": {\"ttlSecondsAfterFinished\": 20},",
        2,
        """
        %s, "command": ["/opt/jre/bin/java", "-Xmx32m", "-Dkastor.rank=$(RANK)/$(WORLD_SIZE)",
                        "-Dkastor.master=$(MASTER_ADDR):$(MASTER_PORT)",
                        "-XshowSettings:properties", "-version"]
        """
            .formatted(image(agent)));
    until("it succeeds", () -> jobs.in(Phase.Succeeded, "echo"));
    assertThat(condition("echo", "Complete").getReason()).isEqualTo("PodsSucceeded");
    String said =
        jobs.pods("echo").stream()
            .map(pod -> client.pods().resource(pod).getLog())
            .collect(Collectors.joining());
    assertThat(said)
        .contains("kastor.rank = 0/2")
        .contains("kastor.rank = 1/2")
        .contains("kastor.master = echo-0.echo-gang.%s.svc:29500".formatted(TEAM));
    until("it is gone with its pods", () -> gone("echo"));
    until(
        "its Service is gone",
        () -> client.services().inNamespace(TEAM).withName("echo-gang").get() == null);
  }

  @Test
  @Order(5)
  @DisplayName("a template that the API server refuses is said by its field, or by the rule")
  void saysWhatIsWrong() throws Exception {
    submit("port", "", 1, image(PAUSE) + ", \"ports\": [{\"containerPort\": 70000}]");
    until("it fails", () -> jobs.in(Phase.Failed, "port"));
    assertThat(condition("port", "Failed").getReason()).isEqualTo("InvalidTemplate");
    assertThat(condition("port", "Failed").getMessage())
        .startsWith("spec.template.spec.containers[0].ports[0].containerPort: Invalid value");
    submit("typo", "", 1, image(PAUSE) + ", \"imagePullPolice\": \"Always\"");
    until("it fails", () -> jobs.in(Phase.Failed, "typo"));
    assertThat(condition("typo", "Failed").getMessage())
        .contains("spec.template.spec.containers[0].imagePullPolice");
    submit("root", "", 1, image(PAUSE), "hostPID");
    until(
        "it waits",
        () ->
            jobs.in(Phase.Queued, "root")
                && "PodsRefused".equals(condition("root", "Queued").getReason()));
    assertThat(condition("root", "Queued").getMessage()).contains("PodSecurity");
    assertThat(jobs.allocated("root")).isZero();
    assertThat(jobs.pods("root")).isEmpty();
  }

  @Test
  @Order(6)
  @DisplayName("a job waits for its profile, and its pods are what the profile makes of them")
  void profiles() throws Exception {
    submit("profiled", "\"profile\": \"gpu-pool\",", 1, image(PAUSE));
    until(
        "it says what it lacks",
        () ->
            jobs.in(Phase.Queued, "profiled")
                && "ProfileNotFound".equals(condition("profiled", "Queued").getReason()));
    client
        .resources(ClusterTrainingProfile.class)
        .resource(
            Serialization.unmarshal(
                """
                {"apiVersion": "kastor.dev/v1alpha1", "kind": "ClusterTrainingProfile",
                 "metadata": {"name": "gpu-pool"},
                 "spec": {"env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
                          "podLabels": {"cost-centre": "research"},
                          "resources": {"cpu": "10m", "memory": "16Mi"}}}
                """,
                ClusterTrainingProfile.class))
        .create();
    until("it runs", () -> jobs.in(Phase.Running, "profiled"));
    Pod pod = jobs.running("profiled").getFirst();
    assertThat(pod.getMetadata().getLabels()).containsEntry("cost-centre", "research");
    assertThat(pod.getSpec().getContainers().getFirst().getEnv())
        .anyMatch(variable -> variable.getName().equals("NCCL_DEBUG"));
    assertThat(pod.getSpec().getContainers().getFirst().getResources().getRequests())
        .containsKeys("cpu", "memory");
  }

  @Test
  @Order(7)
  @DisplayName("deadlines end jobs, with what the pods say; jobs of others are let alone")
  void deadlines() throws Exception {
    submit("others", "\"managedBy\": \"kueue.x-k8s.io/multikueue\",", 1, image(PAUSE));
    submit(
        "unpulled",
        "\"lifecycle\": {\"startDeadlineSeconds\": 15, \"startAttempts\": 2},",
        1,
        image("kastor.dev/e2e/none:1"));
    patch("profiled", "{\"spec\": {\"lifecycle\": {\"activeDeadlineSeconds\": 1}}}");
    until("the active one fails", () -> jobs.in(Phase.Failed, "profiled"));
    assertThat(condition("profiled", "Failed").getReason()).isEqualTo("ActiveDeadlineExceeded");
    until("the one without an image fails", () -> jobs.in(Phase.Failed, "unpulled"));
    assertThat(condition("unpulled", "Failed").getReason()).isEqualTo("StartDeadlineExceeded");
    assertThat(condition("unpulled", "Failed").getMessage())
        .contains("attempt 2 of 2")
        .containsPattern("ErrImagePull|ImagePullBackOff|ErrImageNeverPull");
    until("its pods are gone", () -> jobs.pods("unpulled").isEmpty());
    assertThat(jobs.status("others")).isEmpty();
    assertThat(jobs.pods("others")).isEmpty();
  }

  private void submit(String name, String spec, int replicas, String container) {
    submit(name, spec, replicas, container, "");
  }

  /** With a field of the pod that is true, such as {@code hostPID}. */
  private void submit(String name, String spec, int replicas, String container, String forbidden) {
    // Its one container holds the restricted standard; further fields of it come last.
    String json =
        """
        {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "%s"},
         "spec": {%s "elastic": {"minReplicas": %d, "maxReplicas": %d},
          "faultTolerance": {"backoffSeconds": 1},
          "template": {"spec": {
            "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "main",
              "securityContext": {"allowPrivilegeEscalation": false,
                                  "capabilities": {"drop": ["ALL"]}}, %s}]}}}}
        """
            .formatted(name, spec, replicas, replicas, container);
    String whole =
        forbidden.isEmpty()
            ? json
            : json.replace(
                "\"terminationGracePeriodSeconds\"",
                "\"%s\": true, \"terminationGracePeriodSeconds\"".formatted(forbidden));
    TrainingJob job = Serialization.unmarshal(whole, TrainingJob.class);
    client.resources(TrainingJob.class).inNamespace(TEAM).resource(job).create();
  }

  private static String image(String name) {
    return "\"image\": \"%s\", \"imagePullPolicy\": \"IfNotPresent\"".formatted(name);
  }

  /** The image that the installed operator runs agents of. */
  private String agentImage() {
    return client.apps().deployments().inNamespace(SYSTEM).list().getItems().stream()
        .flatMap(
            deployment -> deployment.getSpec().getTemplate().getSpec().getContainers().stream())
        .flatMap(container -> container.getEnv().stream())
        .filter(variable -> "KASTOR_AGENT_IMAGE".equals(variable.getName()))
        .map(variable -> variable.getValue())
        .findFirst()
        .orElseThrow();
  }

  private void patch(String name, String merge) {
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), merge);
  }

  private Set<String> uids(String name) {
    return jobs.running(name).stream()
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  private Condition condition(String name, String type) {
    return requireNonNull(jobs.status(name).orElseThrow().conditions()).stream()
        .filter(condition -> type.equals(condition.getType()))
        .findFirst()
        .orElseThrow();
  }

  private boolean gone(String name) {
    return client.resources(TrainingJob.class).inNamespace(TEAM).withName(name).get() == null
        && jobs.pods(name).isEmpty();
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
