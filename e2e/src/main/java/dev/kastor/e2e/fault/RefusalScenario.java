package dev.kastor.e2e.fault;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.PacedProfile;
import dev.kastor.e2e.cluster.Webhook;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** A cluster that says no: quotas, webhooks, nodes that take no pods, and sidecars of others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(7)
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class RefusalScenario {
  private static final String TEAM = "refused-team";
  private static final String OTHERS = "refused-others";
  private static final String MESH = "refused-mesh";
  private static final List<String> NODES = List.of("alpha", "beta");
  private static final List<String> TAINTS = List.of("dedicated", "node.cilium.io/agent-not-ready");
  private static final List<String> CALM = List.of("calm-0", "calm-1", "calm-2", "calm-3");
  private static final int COMBINATIONS = 30;
  private static final String GPUS = "requests.nvidia.com/gpu";
  private static final Duration SOON = Duration.ofMinutes(3);

  /** Some rounds of the operator. */
  private static final Duration ROUNDS = Duration.ofSeconds(15);

  /** That of the chart, for a node that can allocate fewer GPUs than its pods hold. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final String PAUSE =
      """
      {"name": "%s", "image": "kastor.dev/e2e/pause:1", "imagePullPolicy": "IfNotPresent",
       "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": true,
                           "runAsUser": 65532, "capabilities": {"drop": ["ALL"]},
                           "seccompProfile": {"type": "RuntimeDefault"}}}
      """;

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Jobs others = new Jobs(client, OTHERS);
  private final Jobs mesh = new Jobs(client, MESH);

  /** Profile of the namespace whose job has to gain from more GPUs. */
  private String paced = "";

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    for (String namespace : new String[] {TEAM, OTHERS, MESH}) {
      namespaces.restricted(namespace);
      namespaces.shared(namespace, "checkpoints");
    }
    quota(2);
    paced = PacedProfile.make(client, "glyph-mlp", TEAM);
  }

  @AfterAll
  void remove() throws Exception {
    client
        .nodes()
        .withName("alpha")
        .edit(node -> {
          node.getSpec().getTaints().removeIf(taint -> taint.getKey().equals("dedicated"));
          return node;
        });
    client.resources(ClusterTrainingProfile.class).withName(paced).delete();
    for (Jobs of : new Jobs[] {jobs, others, mesh}) {
      client.resources(TrainingJob.class).inNamespace(of.namespace()).delete();
      until(of, "its pods are gone", () -> of.pods().isEmpty());
    }
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("a job runs with what the quota of its namespace leaves, and others get the rest")
  void quotaOfANamespace() throws Exception {
    submit(TEAM, "elastic", 1, 4, 100_000);
    until(
        jobs,
        "it runs with two",
        () -> jobs.in(Phase.Running, "elastic") && jobs.allocated("elastic") == 2);
    assertThat(condition(jobs, "elastic", "PodsRefused"))
        .hasValueSatisfying(condition -> {
          assertThat(condition.getStatus()).isEqualTo("True");
          assertThat(condition.getMessage()).contains("ResourceQuota refused-team/gpus allows 2");
        });
    submit(OTHERS, "rest", 6, 6, 100_000);
    until(others, "another has all other GPUs", () -> others.in(Phase.Running, "rest"));
    InvariantViolation.unless(() -> {
      assertThat(jobs.running("elastic")).isNotEmpty().hasSizeLessThanOrEqualTo(2);
      assertThat(others.running("rest")).hasSize(6);
    });
    client.resources(TrainingJob.class).inNamespace(OTHERS).delete();
    until(others, "they are free", () -> others.pods().isEmpty());
    quota(4);
    until(jobs, "it grows as soon as the quota does", () -> jobs.running("elastic").size() > 2);
    until(
        jobs,
        "nothing is refused any more",
        () ->
            condition(jobs, "elastic", "PodsRefused")
                .filter(condition -> condition.getStatus().equals("False"))
                .isPresent());
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    until(jobs, "it is gone", () -> jobs.pods().isEmpty());
  }

  @Test
  @Order(2)
  @DisplayName("a gang that the quota never has room for gives all back and fails by its deadline")
  void gangBeyondTheQuota() throws Exception {
    quota(2);
    gang("gang", 3, "\"lifecycle\": {\"startDeadlineSeconds\": 5, \"startAttempts\": 3},");
    until(
        jobs,
        "it says why it waits",
        () ->
            condition(jobs, "gang", "Queued")
                .filter(condition -> condition.getReason().equals("PodsRefused"))
                .isPresent());
    assertThat(condition(jobs, "gang", "Queued").orElseThrow().getMessage())
        .contains("ResourceQuota refused-team/gpus allows 2")
        .contains("3 replicas");
    assertThat(jobs.allocated("gang")).isZero();
    until(jobs, "it fails", () -> jobs.in(Phase.Failed, "gang"));
    assertThat(condition(jobs, "gang", "Failed").orElseThrow().getReason())
        .isEqualTo("StartDeadlineExceeded");
    assertThat(jobs.pods("gang")).isEmpty();
    // The scopes of this one are not looked at: it is met when it refuses the third pod.
    client.resourceQuotas().inNamespace(TEAM).withName("gpus").delete();
    client
        .resourceQuotas()
        .inNamespace(TEAM)
        .resource(
            new ResourceQuotaBuilder()
                .withNewMetadata()
                .withName("scoped")
                .endMetadata()
                .withNewSpec()
                .withScopes("NotTerminating")
                .addToHard("pods", new Quantity("2"))
                .endSpec()
                .build())
        .create();
    gang("half", 3, "\"lifecycle\": {\"startDeadlineSeconds\": 20, \"startAttempts\": 2},");
    until(
        jobs,
        "the words of the API server are its own",
        () ->
            condition(jobs, "half", "PodsRefused")
                .filter(condition -> condition.getMessage().contains("exceeded quota: scoped"))
                .isPresent());
    until(
        jobs,
        "its pods are gone, and its slots",
        () -> jobs.pods("half").isEmpty() && jobs.allocated("half") == 0);
    until(jobs, "it fails", () -> jobs.in(Phase.Failed, "half"));
    assertThat(condition(jobs, "half", "Failed").orElseThrow().getMessage())
        .contains("exceeded quota: scoped");
    client.resourceQuotas().inNamespace(TEAM).withName("scoped").delete();
  }

  @Test
  @Order(3)
  @DisplayName("a webhook that refuses one namespace keeps nobody else from the GPUs")
  void webhookThatRefuses() throws Exception {
    try (Webhook webhook = Webhook.refusing(client, TEAM, "no pods on a Sunday")) {
      submit(TEAM, "refused", 8, 8, 100_000);
      until(
          jobs,
          "it says why it waits",
          () ->
              condition(jobs, "refused", "Queued")
                  .filter(condition -> condition.getMessage().contains("no pods on a Sunday"))
                  .isPresent());
      submit(OTHERS, "allowed", 8, 8, 100_000);
      until(others, "another has all GPUs", () -> others.in(Phase.Running, "allowed"));
      int asked = webhook.asked();
      Thread.sleep(20_000);
      assertThat(webhook.asked() - asked).as("questions in 20 s").isLessThanOrEqualTo(2);
      InvariantViolation.unless(() -> assertThat(others.running("allowed")).hasSize(8));
      client.resources(TrainingJob.class).inNamespace(OTHERS).delete();
    }
    until(jobs, "it starts once nothing refuses it", () -> jobs.in(Phase.Running, "refused"));
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    until(jobs, "it is gone", () -> jobs.pods().isEmpty());
  }

  @Test
  @Order(4)
  @DisplayName("a sidecar that never ends keeps no job from its end, nor its GPUs from others")
  void sidecarThatNeverEnds() throws Exception {
    try (Webhook webhook = Webhook.injecting(client, MESH, PAUSE.formatted("a-proxy"))) {
      submit(MESH, "meshed", 2, 2, 60);
      until(mesh, "it succeeds", () -> mesh.in(Phase.Succeeded, "meshed"));
      assertThat(webhook.asked()).isPositive();
      assertThat(mesh.pods("meshed"))
          .allMatch(pod -> pod.getSpec().getContainers().getFirst().getName().equals("a-proxy"));
      InvariantViolation.unless(() ->
          assertThat(mesh.training("meshed").orElseThrow().lostOrRepeatedExamples()).isZero());
      submit(OTHERS, "after", 8, 8, 100_000);
      until(others, "another has all GPUs", () -> others.in(Phase.Running, "after"));
      client.resources(TrainingJob.class).inNamespace(OTHERS).delete();
      until(others, "they are free", () -> others.pods().isEmpty());
    }
  }

  @Test
  @Order(5)
  @DisplayName("a job goes to the node that takes it, and says which does not")
  void nodeThatTakesNoPods() throws Exception {
    client
        .nodes()
        .withName("alpha")
        .edit(node -> {
          node.getSpec().getTaints().add(new Taint("NoSchedule", "dedicated", null, "team-a"));
          return node;
        });
    submit(OTHERS, "elsewhere", 4, 4, 100_000);
    until(others, "it runs", () -> others.in(Phase.Running, "elsewhere"));
    assertThat(others.nodes("elsewhere")).containsExactly("beta");
    submit(OTHERS, "waits", 1, 1, 100_000);
    until(
        others,
        "the next one waits",
        () ->
            condition(others, "waits", "Queued")
                .filter(condition -> "True".equals(condition.getStatus()))
                .isPresent());
    client
        .nodes()
        .withName("alpha")
        .edit(node -> {
          node.getSpec().getTaints().removeIf(taint -> taint.getKey().equals("dedicated"));
          return node;
        });
    until(others, "it runs as soon as the taint is gone", () -> others.in(Phase.Running, "waits"));
  }

  @Test
  @Order(6)
  @DisplayName("a device plug-in that starts again under running jobs stops and moves none of them")
  void devicePluginThatStartsAgain() throws Exception {
    client.resources(TrainingJob.class).inNamespace(OTHERS).delete();
    until(others, "all GPUs are free", () -> others.pods().isEmpty());
    for (String name : CALM) {
      submit(OTHERS, name, 2, 2, 1_000_000);
    }
    until(others, "four jobs run", () -> calm().size() == 8);
    Map<String, String> before = calm();
    Script.run("stop", "alpha", "fakegpu");
    try {
      until(others, "its node tells of no GPUs", () -> allocatable() == 0);
      // Rounds of the operator see it, and would move what is there.
      Thread.sleep(ROUNDS.toMillis());
    } finally {
      Script.run("start", "alpha", "fakegpu");
    }
    until(others, "its node has all of them again", () -> allocatable() == 4);
    Thread.sleep(ROUNDS.toMillis());
    InvariantViolation.unless(() -> assertThat(calm()).isEqualTo(before));
  }

  @Test
  @Order(7)
  @Tag("nightly")
  @DisplayName("a GPU less for good: one job leaves with a checkpoint, and goes on with the GPU")
  void aGpuLessForGood() throws Exception {
    Script.run("hurt", "alpha", "fake-03");
    try {
      until(others, "its node has one less", () -> allocatable() == 3);
      Await.until(
          "one job has left",
          PATIENCE.plus(SOON),
          others::describe,
          () ->
              others.pods().size() == 6
                  && calm().size() == 6
                  && CALM.stream().anyMatch(name -> others.in(Phase.Queued, name)));
      String left =
          CALM.stream().filter(name -> others.in(Phase.Queued, name)).findFirst().orElseThrow();
      TrainingStatus saved = others.training(left).orElseThrow();
      InvariantViolation.unless(() -> assertThat(saved.checkpointStep()).isEqualTo(saved.step()));
    } finally {
      Script.run("heal", "alpha");
    }
    until(others, "the node has all again", () -> allocatable() == 4);
    Map<String, Long> before = CALM.stream().collect(toMap(name -> name, others::step));
    until(others, "four jobs run again", () -> calm().size() == 8);
    for (Map.Entry<String, Long> each : before.entrySet()) {
      String name = each.getKey();
      until(others, name + " trains on", () -> others.step(name) > each.getValue());
    }
  }

  @Test
  @Order(8)
  @Tag("nightly")
  @DisplayName("no job waits while a node would take it, with kube-scheduler as the judge")
  void whereKubeSchedulerIsTheJudge() throws Exception {
    client.resources(TrainingJob.class).inNamespace(OTHERS).delete();
    until(others, "all GPUs are free", () -> others.pods().isEmpty());
    Random random = new Random(Long.getLong("kastor.e2e.seed", 1));
    int taken = 0;
    for (int number = 0; number < COMBINATIONS; number++) {
      List<String> busy = new ArrayList<>();
      for (String node : NODES) {
        taint(node, random.nextInt(5) < 2 ? TAINTS.get(random.nextInt(TAINTS.size())) : "");
        if (random.nextInt(5) < 2) {
          busy.add(node);
          hog(node);
        }
      }
      for (String node : busy) {
        until(others, "the hog is there", () -> scheduled(pod("hog-" + node)).isPresent());
      }
      Pod wanted = wanted(random);
      taken += judged("job-" + number, wanted) ? 1 : 0;
      for (String node : busy) {
        client.pods().inNamespace(OTHERS).withName("hog-" + node).withGracePeriod(0).delete();
      }
      until(
          others,
          "nothing is left",
          () -> client.pods().inNamespace(OTHERS).list().getItems().isEmpty());
    }
    NODES.forEach(node -> taint(node, ""));
    assertThat(taken)
        .as("combinations that a node takes")
        .isBetween(COMBINATIONS / 5, COMBINATIONS * 9 / 10);
  }

  /** Whether kube-scheduler takes such a pod; a job of one such pod has to fare alike. */
  private boolean judged(String name, Pod wanted) throws Exception {
    client
        .pods()
        .resource(new PodBuilder(wanted).editMetadata().withName("judge").endMetadata().build())
        .create();
    until(
        others,
        "the judge has spoken",
        () -> scheduled(pod("judge")).isPresent() || refused(pod("judge")));
    boolean taken = scheduled(pod("judge")).isPresent();
    client.pods().inNamespace(OTHERS).withName("judge").withGracePeriod(0).delete();
    until(others, "the judge has gone", () -> pod("judge") == null);
    TrainingJob job =
        Serialization.unmarshal(
            gangOf(name, 1, "", Serialization.asJson(wanted.getSpec())), TrainingJob.class);
    client.resources(TrainingJob.class).inNamespace(OTHERS).resource(job).create();
    if (taken) {
      until(others, name + " runs", () -> others.in(Phase.Running, name));
    } else {
      Thread.sleep(ROUNDS.toMillis() / 3);
      assertThat(others.in(Phase.Running, name))
          .as(name + " runs although no node takes it")
          .isFalse();
    }
    // Each pod of it was tried on a node: how often it was tried on one that refuses.
    Long pods = others.status(name).orElseThrow().nextPod();
    assertThat(pods == null ? 0 : pods).as("pods of " + name).isLessThanOrEqualTo(taken ? 3 : 4);
    client.resources(TrainingJob.class).inNamespace(OTHERS).withName(name).delete();
    return taken;
  }

  private @Nullable Pod pod(String name) {
    return client.pods().inNamespace(OTHERS).withName(name).get();
  }

  private static Optional<String> scheduled(@Nullable Pod pod) {
    return Optional.ofNullable(pod).map(of -> of.getSpec().getNodeName());
  }

  private static boolean refused(@Nullable Pod pod) {
    return pod != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(condition -> "Unschedulable".equals(condition.getReason()));
  }

  /** A pod of a GPU with CPU, toleration and affinity by chance. */
  private static Pod wanted(Random random) {
    Pod pod =
        Serialization.unmarshal(
            """
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "%s"},
             "spec": {"terminationGracePeriodSeconds": 1, "automountServiceAccountToken": false,
                      "securityContext": {"runAsNonRoot": true, "runAsUser": 65532,
                                          "seccompProfile": {"type": "RuntimeDefault"}},
                      "containers": [%s]}}
            """
                .formatted(OTHERS, PAUSE.formatted("main")),
            Pod.class);
    Map<String, Quantity> limits = new TreeMap<>(Map.of("nvidia.com/gpu", new Quantity("1")));
    if (random.nextBoolean()) {
      limits.put("cpu", new Quantity("1"));
    }
    pod.getSpec()
        .getContainers()
        .getFirst()
        .setResources(new ResourceRequirementsBuilder().withLimits(limits).build());
    if (random.nextBoolean()) {
      pod.getSpec()
          .setTolerations(
              List.of(
                  new TolerationBuilder()
                      .withKey(TAINTS.get(random.nextInt(TAINTS.size())))
                      .withOperator("Exists")
                      .build()));
    }
    if (random.nextInt(3) == 0) {
      pod.getSpec()
          .setAffinity(
              new AffinityBuilder()
                  .withNewNodeAffinity()
                  .withNewRequiredDuringSchedulingIgnoredDuringExecution()
                  .addNewNodeSelectorTerm()
                  .addNewMatchExpression()
                  .withKey("kubernetes.io/hostname")
                  .withOperator(random.nextBoolean() ? "In" : "NotIn")
                  .withValues(NODES.get(random.nextInt(NODES.size())))
                  .endMatchExpression()
                  .endNodeSelectorTerm()
                  .endRequiredDuringSchedulingIgnoredDuringExecution()
                  .endNodeAffinity()
                  .build());
    }
    return pod;
  }

  /** Takes most of the CPU of a node. */
  private void hog(String node) {
    Pod pod = wanted(new Random(1));
    pod.getMetadata().setName("hog-" + node);
    pod.getSpec().setAffinity(null);
    pod.getSpec().setNodeSelector(Map.of("kubernetes.io/hostname", node));
    pod.getSpec().setTolerations(List.of(new TolerationBuilder().withOperator("Exists").build()));
    pod.getSpec()
        .getContainers()
        .getFirst()
        .setResources(
            new ResourceRequirementsBuilder().addToRequests("cpu", new Quantity("1200m")).build());
    client.pods().resource(pod).create();
  }

  private void taint(String name, String key) {
    client
        .nodes()
        .withName(name)
        .edit(node -> {
          node.getSpec().getTaints().removeIf(taint -> TAINTS.contains(taint.getKey()));
          if (!key.isEmpty()) {
            node.getSpec().getTaints().add(new Taint("NoSchedule", key, null, "team-a"));
          }
          return node;
        });
  }

  /** Allocations by pod, of all pods that run. */
  private Map<String, String> calm() {
    Map<String, String> calm = new TreeMap<>();
    for (String name : CALM) {
      String allocation = others.version(name) + " " + others.nodes(name);
      others.running(name).forEach(pod -> calm.put(pod.getMetadata().getUid(), allocation));
    }
    return calm;
  }

  private int allocatable() {
    Quantity gpus =
        client.nodes().withName("alpha").get().getStatus().getAllocatable().get("nvidia.com/gpu");
    return gpus == null ? 0 : gpus.getNumericalAmount().intValue();
  }

  private void quota(int gpus) {
    client
        .resourceQuotas()
        .inNamespace(TEAM)
        .resource(
            new ResourceQuotaBuilder()
                .withNewMetadata()
                .withName("gpus")
                .endMetadata()
                .withNewSpec()
                .addToHard(GPUS, new Quantity(Integer.toString(gpus)))
                .endSpec()
                .build())
        .createOr(existing -> existing.update());
  }

  private void submit(String namespace, String name, int min, int max, int steps) throws Exception {
    String yaml =
        Files.readString(Chart.root().resolve("examples/glyph-mlp.yaml"))
            .replaceFirst("name: glyph-mlp\nspec:", "name: " + name + "\nspec:")
            .replaceFirst(
                "spec:\n",
                namespace.equals(TEAM) ? "spec:\n  profile: %s\n".formatted(paced) : "spec:\n")
            .replaceFirst("minReplicas: 1", "minReplicas: " + min)
            .replaceFirst("maxReplicas: 4", "maxReplicas: " + max)
            .replaceFirst("min: 16, max: 512", "min: 4, max: 512")
            .replaceFirst("steps: [0-9]+", "steps: " + steps);
    client
        .resources(TrainingJob.class)
        .inNamespace(namespace)
        .resource(Serialization.unmarshal(yaml, TrainingJob.class))
        .create();
  }

  private void gang(String name, int replicas, String spec) {
    String pod =
        """
        {"terminationGracePeriodSeconds": 1, "automountServiceAccountToken": false,
         "securityContext": {"runAsNonRoot": true, "runAsUser": 65532,
                             "seccompProfile": {"type": "RuntimeDefault"}},
         "containers": [%s]}
        """
            .formatted(PAUSE.formatted("main"));
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .resource(Serialization.unmarshal(gangOf(name, replicas, spec, pod), TrainingJob.class))
        .create();
  }

  private static String gangOf(String name, int replicas, String spec, String pod) {
    return """
    {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "%s"},
     "spec": {%s "elastic": {"minReplicas": %d, "maxReplicas": %d}, "template": {"spec": %s}}}
    """
        .formatted(name, spec, replicas, replicas, pod);
  }

  private static Optional<Condition> condition(Jobs of, String name, String type) {
    return of.status(name).stream()
        .filter(status -> status.conditions() != null)
        .flatMap(status -> requireNonNull(status.conditions()).stream())
        .filter(condition -> type.equals(condition.getType()))
        .findFirst();
  }

  private static void until(Jobs of, String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, of::describe, condition);
  }
}
