package dev.kastor.e2e.scenario;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Webhook;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
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
  private static final String GPUS = "requests.nvidia.com/gpu";
  private static final Duration SOON = Duration.ofMinutes(3);

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

  @BeforeAll
  void install() {
    Namespaces namespaces = new Namespaces(client);
    for (String namespace : new String[] {TEAM, OTHERS, MESH}) {
      namespaces.restricted(namespace);
      namespaces.shared(namespace, "checkpoints");
    }
    quota(2);
  }

  @AfterAll
  void remove() {
    client
        .nodes()
        .withName("alpha")
        .edit(node -> {
          node.getSpec().getTaints().removeIf(taint -> taint.getKey().equals("dedicated"));
          return node;
        });
    for (String namespace : new String[] {TEAM, OTHERS, MESH}) {
      client.resources(TrainingJob.class).inNamespace(namespace).delete();
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
    InvariantViolation.unless(() -> assertThat(jobs.running("elastic")).hasSize(2));
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
    String json =
        """
        {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "%s"},
         "spec": {%s "elastic": {"minReplicas": %d, "maxReplicas": %d},
          "template": {"spec": {"terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": false,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [%s]}}}}
        """
            .formatted(name, spec, replicas, replicas, PAUSE.formatted("main"));
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .resource(Serialization.unmarshal(json, TrainingJob.class))
        .create();
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
