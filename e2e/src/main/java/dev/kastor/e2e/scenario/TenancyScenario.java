package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Rights;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
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

/**
 * The chart's roles, its admission policies and an operator that runs the jobs of one namespace, as
 * a real API server enforces them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(3)
@Tag("never-retried")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class TenancyScenario {
  private static final String SYSTEM = "tenancy-system";
  private static final String OURS = "tenancy-ours";
  private static final String FOREIGN = "tenancy-foreign";
  private static final String OPERATOR = "kastor-kastor";
  private static final String TENANT = "tenant";
  private static final String MAKER = "maker";
  private static final Duration SOON = Duration.ofMinutes(5);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, OURS);
  private final Chart chart =
      new Chart(
          SYSTEM,
          "roundInterval=5s",
          "jobNamespaces={" + OURS + "}",
          "admission.refuseHostAccess=true");

  @BeforeAll
  void makeNamespaces() {
    Namespaces namespaces = new Namespaces(client);
    List.of(SYSTEM, OURS, FOREIGN).forEach(namespaces::restricted);
    for (String account : List.of(TENANT, MAKER)) {
      client
          .resource(
              new ServiceAccountBuilder()
                  .withNewMetadata()
                  .withName(account)
                  .withNamespace(OURS)
                  .endMetadata()
                  .build())
          .create();
    }
  }

  @AfterAll
  void close() {
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("an operator of one namespace may write there alone, and reads no secret elsewhere")
  void operatorWritesInItsNamespacesAlone() throws Exception {
    chart.install();
    assertThat(Rights.of(OPERATOR, SYSTEM, OURS))
        .isEqualTo(Rights.documented(OURS, false, true, OPERATOR));
    for (String other : List.of(FOREIGN, "default", "kube-system", "kube-node-lease")) {
      assertThat(Rights.of(OPERATOR, SYSTEM, other))
          .as(other)
          .isEqualTo(Rights.documented(other, false, false, OPERATOR))
          .noneMatch(right -> right.contains("secrets") || right.startsWith("create pods"));
    }
  }

  @Test
  @Order(2)
  @DisplayName("the tenant's role lets submit and look, and nothing else")
  void tenantsRoleLetsSubmitAndLook() {
    bind(TENANT, OPERATOR + "-tenant");
    Set<String> rights = Rights.of(TENANT, OURS, OURS);
    assertThat(rights)
        .containsExactlyInAnyOrder(
            "get trainingjobs",
            "list trainingjobs",
            "watch trainingjobs",
            "create trainingjobs",
            "update trainingjobs",
            "patch trainingjobs",
            "delete trainingjobs",
            "get pods",
            "list pods",
            "watch pods",
            "get pods/log",
            "list pods/log",
            "watch pods/log",
            "get events",
            "list events",
            "watch events");
    assertThat(Rights.of(TENANT, OURS, FOREIGN)).isEmpty();
  }

  @Test
  @Order(3)
  @DisplayName("nobody but the operator writes its marks, even who may make and change pods")
  void nobodyElseWritesMarks() throws Exception {
    // Whoever may do all of it by RBAC: what is refused now is refused by admission.
    bind(MAKER, "cluster-admin");
    assertRefused("labels kastor.dev", pod("a", "kastor.dev/job: other", ""), "create");
    assertRefused("annotations kastor.dev", pod("b", "", "kastor.dev/node: elsewhere"), "create");
    assertRefused(
        "app.kubernetes.io/managed-by",
        pod("c", "app.kubernetes.io/managed-by: kastor", ""),
        "create");
    assertRefused(
        "annotations kastor.dev", job("marked", "kastor.dev/held-for-kueue: held"), "create");
    as(MAKER, job("trains", "kastor.dev/pinned: here"), "create", "-f", "-").good();
    until("it runs", () -> jobs.in(Phase.Running, "trains"));
    String pod = "pod/" + jobs.running("trains").getFirst().getMetadata().getName();
    as(MAKER, "", "label", pod, "mine=yes").good();
    assertRefused("labels kastor.dev", "", "label", pod, "kastor.dev/job-");
    assertRefused(
        "annotations kastor.dev", "", "annotate", pod, "--overwrite", "kastor.dev/node=elsewhere");
    assertRefused(
        "labels kastor.dev",
        "",
        "patch",
        pod,
        "--subresource=status",
        "--type=merge",
        "-p={\"metadata\":{\"labels\":{\"kastor.dev/job\":\"other\"}}}");
    assertRefused(
        "written by the operator of Kastor alone",
        "",
        "patch",
        "trainingjob/trains",
        "--subresource=status",
        "--type=merge",
        "-p={\"status\":{\"allocation\":null}}");
    String path = "/api/v1/namespaces/%s/pods/any/binding".formatted(OURS);
    assertRefused(
        "annotations kastor.dev",
        """
        {"apiVersion": "v1", "kind": "Binding",
         "metadata": {"name": "any", "annotations": {"kastor.dev/node": "elsewhere"}},
         "target": {"apiVersion": "v1", "kind": "Node", "name": "alpha"}}
        """,
        "create",
        "--raw=" + path);
    as(MAKER, "", "annotate", "trainingjob/trains", "kastor.dev/pinned-").good();
    as(TENANT, "", "annotate", "trainingjob/trains", "kastor.dev/note=ours").good();
    as(TENANT, "", "annotate", "trainingjob/trains", "kastor.dev/note-").good();
  }

  @Test
  @Order(4)
  @DisplayName("a template that reaches the node is refused where the chart says so")
  void templatesThatReachTheNode() throws Exception {
    assertRefused(
        "hostPath",
        gang("\"volumes\": [{\"name\": \"n\", \"hostPath\": {\"path\": \"/\"}}]"),
        "create");
    assertRefused("hostPID", gang("\"hostPID\": true"), "create");
    assertRefused("hostIPC", gang("\"hostIPC\": true"), "create");
    assertRefused(
        "privileged",
        gang(
            "\"initContainers\": [{\"name\": \"i\", \"image\": \"x\", \"securityContext\": {\"privileged\": true}}]"),
        "create");
    as(TENANT, gang("\"hostPID\": false"), "create", "--dry-run=server", "-f", "-").good();
  }

  private static String gang(String field) {
    return """
    {"apiVersion": "kastor.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "host"},
     "spec": {"template": {"spec": {%s, "containers": [{"name": "main", "image": "x"}]}}}}
    """
        .formatted(field);
  }

  @Test
  @Order(5)
  @DisplayName("pods end, nodes are left and jobs are removed as ever: admission is not in the way")
  void controllersAreNotInTheWay() throws Exception {
    String first = jobs.running("trains").getFirst().getMetadata().getName();
    client.pods().inNamespace(OURS).withName(first).delete();
    until(
        "another took its place",
        () ->
            jobs.running("trains").stream()
                .anyMatch(pod -> !pod.getMetadata().getName().equals(first)));
    as(TENANT, "", "delete", "trainingjob/trains", "--cascade=foreground", "--timeout=120s").good();
    until("nothing is left", () -> jobs.pods("trains").isEmpty());
  }

  @Test
  @Order(6)
  @DisplayName("jobs of other namespaces are left as they are")
  void leavesOthersAsTheyAre() throws Exception {
    Shell.Result foreign =
        Shell.run(
            Map.of(),
            job("foreign", ""),
            Shell.command("kubectl", "create", "-n", FOREIGN, "-f", "-"));
    assertThat(foreign.good()).contains("created");
    assertThat(foreign.err()).contains("Warning:", "does not run jobs of this namespace");
    as(TENANT, job("ours", ""), "create", "-f", "-").good();
    until("that of its own runs", () -> jobs.in(Phase.Running, "ours"));
    assertThat(new Jobs(client, FOREIGN).status("foreign")).isEmpty();
    as(TENANT, "", "delete", "trainingjob/ours").good();
    Shell.run("kubectl", "delete", "-n", FOREIGN, "trainingjob/foreign");
    until("nothing trains", () -> jobs.pods("ours").isEmpty());
    chart.uninstall();
  }

  private void assertRefused(String because, String input, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of(arguments));
    if (!input.isEmpty()) {
      all.addAll(List.of("-f", "-"));
    }
    Shell.Result result = as(MAKER, input, all.toArray(String[]::new));
    assertThat(result.out() + result.err())
        .as(String.join(" ", arguments))
        .contains("ValidatingAdmissionPolicy", because);
  }

  private static Shell.Result as(String account, String input, String... arguments)
      throws Exception {
    List<String> command = Shell.command("kubectl", arguments);
    command.addAll(
        List.of("-n", OURS, "--as=system:serviceaccount:%s:%s".formatted(OURS, account)));
    return Shell.run(Map.of(), input, command);
  }

  private void bind(String account, String role) {
    client
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName(account)
                .withNamespace(OURS)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
                .addNewSubject(null, "ServiceAccount", account, OURS)
                .build())
        .create();
  }

  private static String pod(String name, String labels, String annotations) {
    return """
    apiVersion: v1
    kind: Pod
    metadata: {name: %s, labels: {%s}, annotations: {%s}}
    spec:
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: c
          image: none
          securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    """
        .formatted(name, labels, annotations);
  }

  private static String job(String name, String annotations) throws Exception {
    return Files.readString(Chart.root().resolve("examples/glyph-mlp.yaml"))
        .replaceFirst(
            "(?m)^  name: .*$", "  name: %s\n  annotations: {%s}".formatted(name, annotations))
        .replace("maxReplicas: 4", "maxReplicas: 1")
        .replace("steps: 24000", "steps: 2400000");
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
