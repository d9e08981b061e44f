package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.ChartValues;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Operator;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.cluster.Stray;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The chart with everything that can be set: an API server takes all that it renders, and it is
 * installed, changed, given a new certificate and removed without a trace.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(11)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class ChartScenario {
  private static final String SYSTEM = "chart-system";
  private static final String TEAM = "chart-team";
  private static final Duration SOON = Duration.ofMinutes(3);

  /** The kubelet's refresh of a volume, and then the operator's look at its files. */
  private static final Duration RENEWAL = Duration.ofMinutes(10);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Chart chart = new Chart(SYSTEM, "roundInterval=5s");
  private String shownBefore = "";
  private List<String> operatorsBefore = List.of();

  @BeforeAll
  void makeNamespaces() {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.restricted(TEAM);
  }

  @AfterAll
  void close() {
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("it installs, and the metrics say who leads and what runs")
  void installs() throws Exception {
    assertThat(chart.install()).contains("STATUS: deployed");
    Operator operator = new Operator(client, SYSTEM);
    // It is named as the leader before all that leads is at work.
    Await.until(
        "it leads",
        SOON,
        () -> "no kastor_leader 1.0 in /metrics",
        () -> operator.get("/metrics").contains("kastor_leader 1.0"));
    assertThat(operator.get("/metrics"))
        .contains("kastor_build_info{version=", "kastor_watching 1.0")
        .containsPattern("kastor_api_requests_total\\{method=\"GET\",code=\"200\",} [1-9]");
  }

  @Test
  @Order(2)
  @DisplayName("an upgrade with other values puts them into force, certificate and jobs stay")
  void upgrades() throws Exception {
    String certificate = secret();
    kubectl(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: kept}
        spec:
          suspend: true
          program: {name: glyph-mlp}
          goodput:
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: 10}
        """,
        "apply",
        "-n",
        TEAM,
        "-f",
        "-");
    chart.upgrade(
        "policy.name=fifo,metrics.dashboards.enabled=true,networkPolicy.jobNamespaces={%s}"
            .formatted(TEAM));
    assertThat(secret()).isEqualTo(certificate);
    assertThat(operators())
        .isNotEmpty()
        .allSatisfy(pod ->
            assertThat(pod.getSpec().getContainers().getFirst().getEnv())
                .anyMatch(variable ->
                    variable.getName().equals("KASTOR_POLICY")
                        && "fifo".equals(variable.getValue())));
    assertThat(client.network().v1().networkPolicies().inNamespace(TEAM).list().getItems())
        .hasSize(1);
    assertThat(
            client
                .configMaps()
                .inNamespace(SYSTEM)
                .withLabel("grafana_dashboard")
                .list()
                .getItems())
        .hasSize(3);
    assertThat(client.resources(TrainingJob.class).inNamespace(TEAM).withName("kept").get())
        .isNotNull();
  }

  @Test
  @Order(3)
  @DisplayName("a new certificate and authority are applied")
  void renewsCertificate() throws Exception {
    shownBefore = new Operator(client, SYSTEM).certificate();
    operatorsBefore = operators().stream().map(pod -> pod.getMetadata().getUid()).toList();
    kubectl(chart.freshCertificate(), "apply", "-n", SYSTEM, "-f", "-");
  }

  @Test
  @Order(4)
  @DisplayName("mistakes in the values are refused by name, before anything is made")
  void refusesBadValues() {
    // In a namespace without a release: it is the values that are refused, not the name.
    ChartValues.bad()
        .forEach((value, named) ->
            assertThatThrownBy(() -> new Chart(TEAM, value).install()).hasMessageContaining(named));
  }

  @Test
  @Order(5)
  @DisplayName("the API server takes all that the chart renders, with every set of values")
  void serverTakesAll() throws Exception {
    kubectl(standIn("certificates", "Certificate", "cert-manager.io", "v1"), "apply", "-f", "-");
    kubectl(
        standIn("servicemonitors", "ServiceMonitor", "monitoring.coreos.com", "v1"),
        "apply",
        "-f",
        "-");
    kubectl(
        standIn("prometheusrules", "PrometheusRule", "monitoring.coreos.com", "v1"),
        "apply",
        "-f",
        "-");
    kubectl("", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
    for (var set : ChartValues.good(TEAM).entrySet()) {
      String rendered = new Chart(SYSTEM, set.getValue().toArray(String[]::new)).render();
      String said = kubectl(rendered, "apply", "--dry-run=server", "-f", "-");
      assertThat(said.lines()).as(set.getKey()).hasSizeGreaterThan(8);
      assertThat(said).as(set.getKey()).doesNotContainIgnoringCase("violate");
      Progress.say("%s: %d objects".formatted(set.getKey(), said.lines().count()));
    }
  }

  /** The kubelet takes its time: the steps between had that time as well. */
  @Test
  @Order(6)
  @DisplayName("a renewed certificate is shown to agents without a restart")
  void showsRenewedCertificate() throws Exception {
    Operator operator = new Operator(client, SYSTEM);
    Await.until(
        "the operator shows the new certificate",
        RENEWAL,
        () -> "still " + shownBefore,
        () -> shown(operator).filter(serial -> !serial.equals(shownBefore)).isPresent());
    assertThat(operators())
        .extracting(pod -> pod.getMetadata().getUid())
        .containsAll(operatorsBefore);
    assertThat(operators())
        .allMatch(pod -> pod.getStatus().getContainerStatuses().getFirst().getRestartCount() == 0);
  }

  @Test
  @Order(7)
  @DisplayName("uninstalling leaves jobs and definitions, and nothing else of any kind")
  void uninstalls() throws Exception {
    chart.uninstall();
    Await.until("nothing is left", SOON, () -> left().toString(), () -> left().isEmpty());
    assertThat(client.resources(TrainingJob.class).inNamespace(TEAM).withName("kept").get())
        .isNotNull();
    kubectl("", "delete", "trainingjob", "kept", "-n", TEAM);
    kubectl("", "delete", "crd", "-l", "kastor.dev/stand-in");
  }

  /** What agents are shown; empty while connections break, as they do in an upgrade. */
  private static Optional<String> shown(Operator operator) throws GeneralSecurityException {
    try {
      return Optional.of(operator.certificate());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private List<String> left() {
    try {
      return Stray.of(SYSTEM);
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private List<Pod> operators() {
    return client.pods().inNamespace(SYSTEM).list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .toList();
  }

  private String secret() {
    return client
        .secrets()
        .inNamespace(SYSTEM)
        .withName("kastor-kastor-tls")
        .require()
        .getData()
        .getOrDefault("tls.crt", "");
  }

  private static String kubectl(String input, String... arguments)
      throws IOException, InterruptedException {
    return Shell.run(Map.of(), input, Shell.command("kubectl", arguments)).good();
  }

  /** A definition that takes anything, for kinds that others bring. */
  private static String standIn(String plural, String kind, String group, String version) {
    return """
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: %1$s.%3$s, labels: {kastor.dev/stand-in: "true"}}
    spec:
      group: %3$s
      scope: Namespaced
      names: {plural: %1$s, kind: %2$s}
      versions:
        - name: %4$s
          served: true
          storage: true
          schema:
            openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
    """
        .formatted(plural, kind, group, version);
  }
}
