package dev.kastor.e2e.scenario;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Credentials;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Operator;
import dev.kastor.e2e.cluster.Rights;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.SharedChart;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
import org.junit.jupiter.api.io.TempDir;

/**
 * Two tenants, an attacker in each, and the operator itself: what real tokens of a real API server
 * open, and what the operator may do there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(5)
@Tag("never-retried")
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class SecurityScenario {
  private static final String SYSTEM = SharedChart.NAMESPACE;
  private static final String BLUE = "blue";
  private static final String RED = "red";
  private static final String JOB = "trains";
  private static final int EXAMPLES_PER_SECOND = 600;
  private static final Duration SOON = Duration.ofMinutes(5);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Credentials credentials = new Credentials(client);
  private final Jobs jobs = new Jobs(client, BLUE);
  private final Operator operator = new Operator(client, SYSTEM);

  @TempDir Path folder;

  @BeforeAll
  void makeNamespaces() {
    Namespaces namespaces = new Namespaces(client);
    for (String tenant : List.of(BLUE, RED)) {
      namespaces.restricted(tenant);
      namespaces.shared(tenant, "checkpoints");
      account(tenant);
      new SlowStore(client, tenant).make();
    }
  }

  @AfterAll
  void close() {
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("the operator may do what its documentation says, no more and no less")
  void operatorHasTheDocumentedRights() throws Exception {
    String account = "kastor-kastor";
    assertThat(Rights.of(account, SYSTEM, SYSTEM))
        .isEqualTo(Rights.documented(SYSTEM, true, true, "kastor-kastor"));
    for (String other : List.of(BLUE, "default", "kube-system", "kube-node-lease")) {
      assertThat(Rights.of(account, SYSTEM, other))
          .as(other)
          .isEqualTo(Rights.documented(other, false, true, "kastor-kastor"));
    }
  }

  @Test
  @Order(2)
  @DisplayName("a job's pod may do nothing, and has no token but the one for its job")
  void podsHaveNoRights() throws Exception {
    submit(BLUE, JOB, false);
    submit(RED, JOB, true);
    until("the job runs", () -> jobs.in(Phase.Running, JOB));
    for (String namespace : List.of(BLUE, RED, SYSTEM)) {
      assertThat(Rights.of("default", BLUE, namespace)).as(namespace).isEmpty();
    }
    Pod pod = pod();
    assertThat(pod.getSpec().getAutomountServiceAccountToken()).isFalse();
    assertThat(pod.getSpec().getVolumes())
        .filteredOn(volume -> volume.getProjected() != null)
        .singleElement()
        .satisfies(volume ->
            assertThat(volume.getProjected().getSources())
                .singleElement()
                .satisfies(source ->
                    assertThat(source.getServiceAccountToken().getAudience())
                        .isEqualTo("kastor/%s/%s".formatted(BLUE, JOB))));
  }

  @Test
  @Order(3)
  @DisplayName("forged, expired and foreign tokens open nothing")
  void foreignTokensOpenNothing() throws Exception {
    Pod pod = pod();
    String audience = "kastor/%s/%s".formatted(BLUE, JOB);
    String good = credentials.ofPod(pod, audience);
    assertThat(report(good)).as("known, but the body is none").isEqualTo(400);
    assertThat(report(Credentials.signedAnew(good))).as("our signature is as good").isEqualTo(400);
    assertThat(report(Credentials.expired(good))).as("expired").isEqualTo(401);
    assertThat(report(Credentials.forged(good))).as("forged").isEqualTo(401);
    assertThat(report(credentials.ofPod(pod, "kastor/%s/other".formatted(BLUE))))
        .as("of another job")
        .isEqualTo(403);
    assertThat(report(credentials.ofAccount(BLUE, "default", audience)))
        .as("of no pod")
        .isEqualTo(403);
    assertThat(report(credentials.ofAccount(RED, "default", audience)))
        .as("of another namespace")
        .isEqualTo(403);
    assertThat(report(credentials.ofAccount(BLUE, "viewer"))).as("for the API").isEqualTo(401);
    Pod foreign = operatorPod();
    assertThat(report(credentials.ofPod(foreign, audience)))
        .as("of a pod that is no replica")
        .isEqualTo(403);
    client.resource(pod).withGracePeriod(0).delete();
    until("the token of a pod that is gone is worthless", () -> report(good) != 400);
    assertThat(report(good)).isIn(401, 403);
  }

  @Test
  @Order(4)
  @DisplayName("a tenant sees his own jobs on page and API, and no others")
  void tenantsSeeTheirOwn() throws Exception {
    assertThat(operator.get("/api/v1/overview", "").statusCode()).isEqualTo(401);
    for (String tenant : List.of(BLUE, RED)) {
      String other = tenant.equals(BLUE) ? RED : BLUE;
      for (String token :
          List.of(
              credentials.ofAccount(tenant, "viewer", "kastor"),
              credentials.ofAccount(tenant, "viewer"))) {
        var overview = Serialization.unmarshal(body("/api/v1/overview", token), Map.class);
        assertThat((List<?>) overview.get("jobs"))
            .singleElement()
            .satisfies(job -> assertThat(((Map<?, ?>) job).get("namespace")).isEqualTo(tenant));
        assertThat(body("/api/v1/timeline", token)).doesNotContain("\"" + other + "\"");
        assertThat(operator.get(history(tenant), token).statusCode()).isEqualTo(200);
        assertThat(operator.get(history(other), token).statusCode()).isEqualTo(403);
      }
      assertThat(
              operator
                  .get("/api/v1/overview", credentials.ofAccount(tenant, "viewer", "elsewhere"))
                  .statusCode())
          .isEqualTo(401);
    }
    assertThat(body("/api/v1/overview", credentials.ofAccount(RED, "default", "kastor")))
        .contains("\"jobs\":[]");
    assertThat(
            body(
                "/api/v1/overview",
                credentials.ofAccount(SYSTEM, "kastor-kastor-viewer", "kastor")))
        .contains("\"" + BLUE + "\"")
        .contains("\"" + RED + "\"");
    String red = credentials.ofAccount(RED, "viewer", "kastor");
    client.rbac().roleBindings().inNamespace(RED).withName("viewer").delete();
    until(
        "a right that is taken away is gone",
        () -> operator.get(history(RED), red).statusCode() == 403);
  }

  @Test
  @Order(5)
  @DisplayName("the CLI shows who asks: with a certificate, and with a token")
  void cliSaysWhoAsks() throws Exception {
    Shell.Result queue = kastor("queue");
    assertThat(queue.good()).isNotBlank();
    assertThat(queue.err()).as("the operator was asked").doesNotContain("not known");
    Path token = folder.resolve("token");
    Files.writeString(token, credentials.ofAccount(BLUE, "viewer", "kastor"));
    String file = token.toString();
    assertThat(kastor("history", JOB, "-n", BLUE, "--operator-token", file).good()).isNotBlank();
    Files.writeString(token, "no.good.token");
    Shell.Result refused = kastor("queue", "--operator-token", file);
    assertThat(refused.out() + refused.err()).contains("401").doesNotContain("no.good.token");
  }

  @Test
  @Order(6)
  @DisplayName("no log of the operator has a token or a secret in it")
  void logsHoldNoSecrets() throws Exception {
    String encoded =
        client.secrets().inNamespace(BLUE).withName(JOB + "-ring").get().getData().get("secret");
    String secret = new String(Base64.getDecoder().decode(encoded), ISO_8859_1);
    for (Pod pod :
        client
            .pods()
            .inNamespace(SYSTEM)
            .withLabel("app.kubernetes.io/name", "kastor")
            .list()
            .getItems()) {
      String log = log(pod);
      assertThat(log)
          .isNotEmpty()
          .doesNotContain(encoded, secret)
          .as("every token of an account begins so")
          .doesNotContain("eyJhbGciOi");
    }
    client.resources(TrainingJob.class).inNamespace(BLUE).delete();
    client.resources(TrainingJob.class).inNamespace(RED).delete();
    until("nothing trains", () -> jobs.pods(JOB).isEmpty());
  }

  private String log(Pod pod) {
    return client.pods().inNamespace(SYSTEM).withName(pod.getMetadata().getName()).getLog();
  }

  private int report(String token) throws Exception {
    return operator.report("/v1/jobs/%s/%s/telemetry".formatted(BLUE, JOB), token, "{}");
  }

  private String body(String path, String token) throws Exception {
    var answer = operator.get(path, token);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static String history(String namespace) {
    return "/api/v1/jobs/%s/%s/history".formatted(namespace, JOB);
  }

  private Pod pod() {
    return jobs.running(JOB).getFirst();
  }

  private Pod operatorPod() {
    return client
        .pods()
        .inNamespace(SYSTEM)
        .withLabel("kastor.dev/leader", "true")
        .list()
        .getItems()
        .getFirst();
  }

  private void submit(String namespace, String name, boolean suspended) throws IOException {
    String yaml =
        Files.readString(Chart.root().resolve("examples/glyph-mlp.yaml"))
            .replace("maxReplicas: 4", "maxReplicas: 1")
            .replace("steps: 24000", "steps: 2400000")
            .replace("spec:\n", "spec:\n  suspend: " + suspended + "\n");
    TrainingJob job =
        Serialization.unmarshal(
            new SlowStore(client, namespace).feed(yaml, EXAMPLES_PER_SECOND), TrainingJob.class);
    job.getMetadata().setName(name);
    client.resources(TrainingJob.class).inNamespace(namespace).resource(job).create();
  }

  /** A service account that may look at the jobs of its namespace. */
  private void account(String namespace) {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("viewer")
                .withNamespace(namespace)
                .endMetadata()
                .build())
        .create();
    client
        .resource(
            new RoleBuilder()
                .withNewMetadata()
                .withName("viewer")
                .withNamespace(namespace)
                .endMetadata()
                .addNewRule()
                .withApiGroups("kastor.dev")
                .withResources("trainingjobs")
                .withVerbs("get", "list")
                .endRule()
                .build())
        .create();
    client
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName("viewer")
                .withNamespace(namespace)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "Role", "viewer")
                .addNewSubject(null, "ServiceAccount", "viewer", namespace)
                .build())
        .create();
  }

  private static Shell.Result kastor(String... arguments) throws Exception {
    Path target = Shell.ROOT.resolve("cli/target");
    Path jar;
    try (Stream<Path> files = Files.list(target)) {
      jar =
          files
              .filter(f -> f.getFileName().toString().matches("cli-.*\\.jar"))
              .findFirst()
              .orElseThrow();
    }
    List<String> command =
        Shell.command(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            jar + ":" + target.resolve("lib/*"),
            "dev.kastor.cli.Kastor");
    command.addAll(List.of(arguments));
    command.addAll(List.of("--kubeconfig", System.getenv("KUBECONFIG")));
    return Shell.run(Map.of(), "", command);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
