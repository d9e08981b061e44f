package dev.kastor.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.doctor.Check.Level;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.local.api.Json;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DoctorTest {
  private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");

  @TempDir Path folder;

  private static Node node(String name, String resource, int amount) {
    return Serialization.unmarshal(
        """
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"},
         "status": {"allocatable": {"%s": "%d"}}}
        """
            .formatted(name, resource, amount),
        Node.class);
  }

  private static Pod pod(String name, String status) {
    return Serialization.unmarshal(
        """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "ks"},
         "spec": {"containers": []}, "status": %s}
        """
            .formatted(name, status),
        Pod.class);
  }

  private static Lease lease(String holder, String renewed) {
    return Serialization.unmarshal(
        """
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"},
         "spec": {"holderIdentity": "%s", "renewTime": "%s"}}
        """
            .formatted(holder, renewed),
        Lease.class);
  }

  @Tag("slow")
  @Test
  void findsALocalClusterHealthyAndOneWithoutOperatorNot() throws IOException {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator =
            new FakeOperator()
                .answer("/q/health/ready", "{}")
                .answer("/", "page")
                .answer("/metrics", "kastor_telemetry_reports_total 5.0\n");
        KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(Files.readString(folder.resolve("kubeconfig"))))
                .build()) {
      client.resource(node("local", "kastor.dev/slot", 2)).create();
      Terminal.Result healthy = terminal.run("doctor", "--operator", operator.url());
      assertThat(healthy.out())
          .containsPattern("ok +api-server +http://127.0.0.1:\\d+/ answers, Kubernetes v1.35")
          .containsPattern("ok +clock +agrees")
          .containsPattern("ok +crd +trainingjobs.kastor.dev is that of this kastor")
          .containsPattern("ok +rights ")
          .containsPattern("ok +telemetry +running jobs: 0; reports: 5 accepted, 0 refused")
          .containsPattern("ok +watches +the operator hears of changes")
          .containsPattern("ok +gpus +2 of kastor.dev/slot on 1 of 1 nodes")
          .containsPattern("ok +ready +the API server's 0 checks pass")
          .contains("13 ok, 0 to look at, 0 failed");
      assertThat(healthy.code()).isZero();
      terminal.server.readiness().add("kubelet", () -> Optional.of("it stands still"));
      Terminal.Result ill = terminal.run("doctor", "--operator", operator.url());
      assertThat(ill.out()).containsPattern("fail +ready +kubelet failed: it stands still");
      assertThat(ill.code()).isEqualTo(ExitCode.FAILED);
      Terminal.Result sick = terminal.run("doctor", "-o", "json");
      assertThat(sick.code()).isEqualTo(ExitCode.FAILED);
      JsonNode answer = new ObjectMapper().readTree(sick.out());
      assertThat(answer.path("ok").asBoolean()).isFalse();
      assertThat(answer.at("/checks").findValuesAsText("level")).contains("ok", "fail");
      terminal.server.close();
      Terminal.Result gone = terminal.run("doctor");
      assertThat(gone.code()).isEqualTo(ExitCode.FAILED);
      assertThat(gone.out()).containsPattern("fail +api-server").contains("1 failed");
    }
  }

  @Test
  void comparesClocksByTheSecond() {
    assertThat(ApiServerChecks.clock(NOW, NOW, NOW.plusMillis(100)).level()).isEqualTo(Level.OK);
    assertThat(ApiServerChecks.clock(NOW.minusSeconds(5), NOW, NOW).level()).isEqualTo(Level.OK);
    Check ahead = ApiServerChecks.clock(NOW.plusSeconds(9), NOW, NOW);
    assertThat(ahead.level()).isEqualTo(Level.WARN);
    assertThat(ahead.message()).contains("9s ahead of");
    assertThat(ApiServerChecks.clock(NOW.minusSeconds(90), NOW, NOW).message())
        .contains("89s behind");
  }

  @Test
  void knowsACrdOfAnotherVersion() throws IOException {
    String crd =
        "{spec: {versions: [{name: %s, served: true, schema: {openAPIV3Schema: {description:"
            + " %s}}}]}}";
    JsonNode mine = Json.YAML.readTree(crd.formatted("v1alpha1", "a"));
    assertThat(ApiServerChecks.crd(mine, mine).level()).isEqualTo(Level.OK);
    assertThat(
            ApiServerChecks.crd(Json.YAML.readTree(crd.formatted("v1alpha1", "b")), mine).level())
        .isEqualTo(Level.WARN);
    assertThat(ApiServerChecks.crd(Json.YAML.readTree(crd.formatted("v2", "a")), mine).level())
        .isEqualTo(Level.FAIL);
  }

  @Test
  void saysWhichRightsAreMissing() {
    assertThat(RightsCheck.check(List.of(), "team").level()).isEqualTo(Level.OK);
    Check fewer = RightsCheck.check(List.of(RightsCheck.RIGHTS.get(4)), "team");
    assertThat(fewer.level()).isEqualTo(Level.WARN);
    assertThat(fewer.message()).contains("you may not delete trainingjobs.kastor.dev");
    assertThat(fewer.remedy()).endsWith("needed by: rm");
    assertThat(RightsCheck.check(RightsCheck.RIGHTS, "team").level()).isEqualTo(Level.FAIL);
  }

  @Tag("slow")
  @Test
  void knowsWhetherAnOperatorIsReadyAndLeads() {
    Pod ready = pod("op-a", "{\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}");
    Pod pulling =
        pod(
            "op-b",
            "{\"conditions\": [], \"containerStatuses\": [{\"name\": \"o\", \"state\":"
                + " {\"waiting\": {\"reason\": \"ImagePullBackOff\"}}}]}");
    assertThat(OperatorChecks.pods(List.of()).level()).isEqualTo(Level.WARN);
    assertThat(OperatorChecks.pods(List.of(ready, pulling)).message()).startsWith("1 of 2 pods");
    Check none = OperatorChecks.pods(List.of(pulling));
    assertThat(none.level()).isEqualTo(Level.FAIL);
    assertThat(none.message()).contains("ImagePullBackOff");
    List<Pod> two = List.of(ready, pulling);
    assertThat(
            OperatorChecks.leader(two, List.of(lease("op-a", "2026-01-01T00:59:57.000000Z")), NOW))
        .isEqualTo(Check.ok("leader", "op-a leads, its lease renewed 3s ago"));
    assertThat(
            OperatorChecks.leader(two, List.of(lease("op-a", "2026-01-01T00:50:00.000000Z")), NOW)
                .level())
        .isEqualTo(Level.FAIL);
    assertThat(
            OperatorChecks.leader(two, List.of(lease("x", "2026-01-01T00:59:57.000000Z")), NOW)
                .level())
        .isEqualTo(Level.FAIL);
    assertThat(OperatorChecks.leader(List.of(ready), List.of(), NOW).level()).isEqualTo(Level.OK);
  }

  @Test
  void noticesThatNoReportsArrive() {
    String running = "kastor_jobs{phase=\"Running\",} 2.0\n";
    assertThat(OperatorChecks.telemetry(running).level()).isEqualTo(Level.FAIL);
    assertThat(OperatorChecks.telemetry(running + "kastor_telemetry_reports_total 4.0\n").level())
        .isEqualTo(Level.OK);
    String refused =
        "kastor_telemetry_reports_total 1.0\nkastor_telemetry_refused_total{reason=\"a\",} 3.0\n";
    assertThat(OperatorChecks.telemetry(refused).level()).isEqualTo(Level.WARN);
  }

  @Test
  void noticesThatTheOperatorHearsOfNothing() {
    assertThat(OperatorChecks.watches("kastor_watching 1.0\n").level()).isEqualTo(Level.OK);
    Check deaf = OperatorChecks.watches("kastor_leader 1.0\nkastor_watching 0.0\n");
    assertThat(deaf.level()).isEqualTo(Level.FAIL);
    assertThat(deaf.remedy()).contains("log");
  }

  @Tag("slow")
  @Test
  void countsGpusAndSeesImagesThatDoNotCome() {
    List<Node> nodes = List.of(node("a", "nvidia.com/gpu", 8), node("b", "cpu", 4));
    assertThat(WorkChecks.gpus(nodes, "nvidia.com/gpu").message())
        .isEqualTo("8 of nvidia.com/gpu on 1 of 2 nodes");
    Check other = WorkChecks.gpus(nodes, "kastor.dev/slot");
    assertThat(other.level()).isEqualTo(Level.FAIL);
    assertThat(other.message()).contains("but there is nvidia.com/gpu");
    assertThat(other.remedy()).contains("slotResource");
    Pod stuck =
        pod(
            "digits-0",
            "{\"containerStatuses\": [{\"name\": \"a\", \"image\": \"x/y:z\", \"state\":"
                + " {\"waiting\": {\"reason\": \"ErrImagePull\", \"message\": \"not found\"}}}]}");
    assertThat(WorkChecks.images(List.of(stuck)).message())
        .isEqualTo("pod ks/digits-0: ErrImagePull: not found");
    assertThat(WorkChecks.images(List.of()).level()).isEqualTo(Level.OK);
  }

  @Test
  void namesJobsWhosePodsAreRefusedWhileTheyLive() {
    List<TrainingJob> jobs =
        List.of(
            job("calm", "{phase: Running, conditions: []}"),
            job("refused", refused("Running", "True")),
            job("over", refused("Failed", "True")),
            job("grown", refused("Running", "False")));
    Check found = WorkChecks.refusals(jobs);
    assertThat(found.level()).isEqualTo(Level.WARN);
    assertThat(found.message())
        .isEqualTo(
            "1 of 4 jobs get fewer pods than they could have, among them team/refused: exceeded"
                + " quota: gpus");
    assertThat(WorkChecks.refusals(jobs.subList(0, 1)).level()).isEqualTo(Level.OK);
  }

  private static String refused(String phase, String status) {
    return "{phase: %s, conditions: [{type: PodsRefused, status: '%s', reason: PodsRefused, message: 'exceeded quota: gpus'}]}"
        .formatted(phase, status);
  }

  private static TrainingJob job(String name, String status) {
    return Serialization.unmarshal(
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s, namespace: team}
        status: %s
        """
            .formatted(name, status),
        TrainingJob.class);
  }

  @Test
  void aTableOfEightyColumnsWrapsWhatToDo() {
    assertThat(
            Doctor.lines(
                List.of(
                    Check.ok("clock", "agrees with the API server's"),
                    Check.fail(
                        "crd",
                        "there is no CRD trainingjobs.kastor.dev",
                        "Install the chart, or: kubectl apply --server-side -f helm/kastor/crds/")),
                80))
        .containsExactly(
            "STATE  CHECK  FOUND",
            "ok     clock  agrees with the API server's",
            "fail   crd    there is no CRD trainingjobs.kastor.dev",
            "              -> Install the chart, or: kubectl apply --server-side -f",
            "              helm/kastor/crds/",
            "1 ok, 0 to look at, 1 failed");
  }
}
