package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import org.junit.jupiter.api.io.TempDir;

/** A researcher works with the command {@code kastor}, and a person who helps gets a bundle. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(12)
@Tag("nightly")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class CliScenario {
  private static final String SYSTEM = "cli-system";
  private static final String TEAM = "cli-team";
  private static final String JOB = "glyphs";
  private static final Duration SOON = Duration.ofMinutes(4);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MANIFEST =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: glyphs}
      spec:
        program: {name: glyph-mlp}
        queue: research
        elastic: {minReplicas: 1, maxReplicas: 2}
        checkpoint: {intervalSeconds: 5}
        goodput:
          batchSize: {initial: 64}
          learningRate: {base: "0.05"}
          work: {steps: 4000000}
      """;

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Chart chart =
      new Chart(
          SYSTEM,
          "roundInterval=5s",
          "replicas=1",
          "checkpoints.claim=checkpoints",
          "queues=research=3");

  @TempDir Path folder;

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "checkpoints");
    chart.install();
  }

  @AfterAll
  void remove() throws Exception {
    chart.uninstall();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("doctor finds nothing wrong with a fresh installation")
  void doctor() throws Exception {
    JsonNode report = json("doctor");
    assertThat(report.path("checks"))
        .as("all checks: %s", report)
        .allMatch(check -> check.path("level").asText().equals("ok"));
    assertThat(report.path("checks")).hasSizeGreaterThan(8);
    assertThat(report.path("ok").asBoolean()).isTrue();
  }

  @Test
  @Order(2)
  @DisplayName("submit refuses what is wrong by field, and takes what is right")
  void submit() throws Exception {
    Path bad = write("bad.yaml", MANIFEST.replace("minReplicas: 1", "minReplicas: 3"));
    Shell.Result refused = kastor("submit", "-f", bad.toString());
    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains("spec.elastic");
    assertThat(kastor("submit", "-f", bad.toString(), "-f", good().toString()).status())
        .isEqualTo(2);
    assertThat(client.resources(TrainingJob.class).inNamespace(TEAM).list().getItems())
        .as("nothing was submitted")
        .isEmpty();

    assertThat(kastor("submit", "-f", good().toString()).good()).contains(JOB);
    until("it trains", () -> jobs.in(Phase.Running, JOB) && jobs.step(JOB) > 0);
  }

  @Test
  @Order(3)
  @DisplayName("ls, describe, why, history, queue, events, logs and top tell of it in all formats")
  void reads() throws Exception {
    assertThat(kastor("ls").good()).contains("NAME", JOB, "Running");
    assertThat(kastor("ls", "-A", "-o", "wide").good()).contains(TEAM, JOB, "research");
    assertThat(kastor("ls", "-o", "name").good().strip()).endsWith(JOB);
    assertThat(json("ls").at("/jobs/0/name").asText()).isEqualTo(JOB);
    assertThat(
            new YAMLMapper()
                .readTree(kastor("ls", "-o", "yaml").good())
                .at("/jobs/0/phase")
                .asText())
        .isEqualTo("Running");
    assertThat(kastor("get", JOB).good()).contains("kind: TrainingJob", "uid:");
    assertThat(kastor("describe", JOB).good()).contains("glyph-mlp", "Events");
    assertThat(json("describe", JOB).at("/job/spec/queue").asText()).isEqualTo("research");

    JsonNode why = json("why", JOB);
    assertThat(why.path("operatorAway").isMissingNode()).as("%s", why).isTrue();
    assertThat(why.at("/decision/message").asText()).isNotEmpty();
    assertThat(kastor("why", JOB).good()).contains(JOB);

    assertThat(json("history", JOB).path("stretches")).isNotEmpty();
    assertThat(json("queue").path("queues"))
        .anyMatch(queue ->
            queue.path("name").asText().equals("research") && queue.path("running").asInt() == 1);
    assertThat(kastor("queue", "ls").good()).contains("research");
    assertThat(json("events", JOB).path("events"))
        .anyMatch(event -> event.path("object").asText().equals(JOB));
    assertThat(kastor("events").good()).contains(JOB);
    assertThat(kastor("logs", JOB, "--tail", "5").good().lines().count()).isBetween(1L, 5L);
    assertThat(kastor("logs", JOB, "--rank", "0").good()).isNotBlank();
    assertThat(kastor("top", "--once").good()).contains(JOB);
    assertThat(kastor("describe", "nobody").status()).isEqualTo(4);
  }

  @Test
  @Order(4)
  @DisplayName("pin, scale, suspend, resume and stop do what they say")
  void changes() throws Exception {
    kastor("pin", JOB, "--at", "2").good();
    until("it has 2 replicas", () -> jobs.allocated(JOB) == 2 && jobs.running(JOB).size() == 2);
    kastor("pin", JOB, "--at", "1").good();
    until("it has 1 replica", () -> jobs.allocated(JOB) == 1 && jobs.running(JOB).size() == 1);
    kastor("pin", JOB, "--unpin").good();
    kastor("scale", JOB, "--replicas", "1").good();
    assertThat(json("get", JOB).at("/spec/elastic/maxReplicas").asInt()).isEqualTo(1);
    assertThat(kastor("scale", JOB, "--min", "3", "--max", "2").status()).isEqualTo(2);

    kastor("suspend", JOB).good();
    until("it is suspended", () -> jobs.in(Phase.Suspended, JOB));
    long saved = jobs.step(JOB);
    kastor("resume", JOB).good();
    until("it goes on", () -> jobs.in(Phase.Running, JOB) && jobs.step(JOB) > saved);
    kastor("stop", JOB).good();
    assertThat(jobs.in(Phase.Suspended, JOB)).isTrue();
    assertThat(jobs.running(JOB)).isEmpty();
    kastor("resume", JOB).good();
  }

  @Test
  @Order(5)
  @DisplayName("a support bundle tells much, and no secret")
  void bundle() throws Exception {
    Path file = folder.resolve("bundle.tar.gz");
    kastor("support-bundle", "-o", file.toString()).good();
    Shell.run("tar", "-xzf", file.toString(), "-C", folder.toString()).good();
    List<Path> files;
    try (var all = Files.walk(folder)) {
      files = all.filter(Files::isRegularFile).filter(each -> !each.equals(file)).toList();
    }
    assertThat(files)
        .extracting(each -> folder.relativize(each).toString())
        .contains(
            "jobs/%s/%s.yaml".formatted(TEAM, JOB),
            "nodes/alpha.yaml",
            "doctor.json",
            "operator/metrics.txt",
            "operator/overview.json");
    assertThat(Files.readString(folder.resolve("missing.txt"))).isEqualTo("nothing\n");
    String text = "";
    for (Path each : files) {
      text += Files.readString(each);
    }
    for (String secret : secrets()) {
      assertThat(text).doesNotContain(secret);
    }
    assertThat(text).doesNotContain("PRIVATE KEY", "eyJhbGciOi");
  }

  @Test
  @Order(6)
  @DisplayName("it is a plugin of kubectl")
  void plugin() throws Exception {
    String path = Shell.ROOT + ":" + System.getenv("PATH");
    Shell.Result listed =
        Shell.run(
            Map.of("PATH", path), "", List.of("kubectl", "kastor", "ls", "-n", TEAM, "-o", "name"));
    assertThat(listed.good()).contains(JOB);
    assertThat(Shell.run(Map.of("PATH", path), "", List.of("kubectl", "plugin", "list")).good())
        .contains("kubectl-kastor");
  }

  @Test
  @Order(7)
  @DisplayName("one who may see one namespace sees that, and is told what is missing")
  void tenant() throws Exception {
    Path kubeconfig = tenantOf(TEAM);
    assertThat(as(kubeconfig, "ls", "-n", TEAM).good()).contains(JOB);
    Shell.Result all = as(kubeconfig, "ls", "-A");
    assertThat(all.status()).isEqualTo(1);
    assertThat(all.err()).contains("does not allow");
    Shell.Result why = as(kubeconfig, "why", JOB, "-n", TEAM);
    assertThat(why.good()).contains(JOB);
    assertThat(why.err()).contains("operator");
    Shell.Result pin = as(kubeconfig, "pin", JOB, "-n", TEAM, "--here");
    assertThat(pin.status()).isEqualTo(1);
    Shell.Result doctor = as(kubeconfig, "doctor", "-n", TEAM, "-o", "json");
    JsonNode checks = JSON.readTree(doctor.out()).path("checks");
    assertThat(checks).isNotEmpty().anyMatch(each -> !each.path("level").asText().equals("ok"));
  }

  @Test
  @Order(8)
  @DisplayName("rm removes the job and its pods")
  void removes() throws Exception {
    kastor("rm", JOB).good();
    until("its pods are gone", () -> jobs.pods(JOB).isEmpty());
    assertThat(kastor("get", JOB).status()).isEqualTo(4);
    assertThat(json("ls").path("jobs")).isEmpty();
  }

  /** What nobody but its owner may see. */
  private List<String> secrets() throws IOException, InterruptedException {
    List<String> secrets = new ArrayList<>();
    for (String namespace : List.of(SYSTEM, TEAM)) {
      client
          .secrets()
          .inNamespace(namespace)
          .list()
          .getItems()
          .forEach(secret ->
              secret
                  .getData()
                  .forEach((key, value) -> {
                    if (!key.endsWith(".crt")) {
                      secrets.add(value);
                    }
                  }));
    }
    assertThat(secrets).as("key of the ring, key of the certificate").hasSizeGreaterThan(1);
    secrets.add(
        Shell.run(
                "kubectl",
                "config",
                "view",
                "--raw",
                "-o",
                "jsonpath={.users[0].user.client-key-data}")
            .good());
    secrets.removeIf(String::isBlank);
    return secrets;
  }

  private Path tenantOf(String namespace) throws IOException, InterruptedException {
    Shell.run("kubectl", "create", "serviceaccount", "tenant", "-n", namespace).good();
    Shell.run(
            "kubectl",
            "create",
            "role",
            "tenant",
            "-n",
            namespace,
            "--verb=get,list,watch",
            "--resource=trainingjobs.kastor.dev,pods,pods/log,events")
        .good();
    Shell.run(
            "kubectl",
            "create",
            "rolebinding",
            "tenant",
            "-n",
            namespace,
            "--role=tenant",
            "--serviceaccount=" + namespace + ":tenant")
        .good();
    String token = Shell.run("kubectl", "create", "token", "tenant", "-n", namespace).good();
    String shown = Shell.run("kubectl", "config", "view", "--raw", "-o", "json").good();
    JsonNode admin = JSON.readTree(shown);
    return write(
        "tenant.kubeconfig",
        """
        {"apiVersion": "v1", "kind": "Config", "current-context": "t",
         "clusters": [{"name": "c", "cluster": %s}],
         "contexts": [{"name": "t", "context": {"cluster": "c", "user": "u"}}],
         "users": [{"name": "u", "user": {"token": "%s"}}]}
        """
            .formatted(admin.at("/clusters/0/cluster"), token.strip()));
  }

  private Path good() throws IOException {
    return write("job.yaml", MANIFEST);
  }

  private Path write(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  private static JsonNode json(String... arguments) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("-o", "json"));
    return JSON.readTree(kastor(all.toArray(String[]::new)).good());
  }

  /** The command with the administrator's kubeconfig, in the team's namespace. */
  private static Shell.Result kastor(String... arguments) throws IOException, InterruptedException {
    return as(Path.of(System.getenv("KUBECONFIG")), arguments);
  }

  private static Shell.Result as(Path kubeconfig, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Shell.ROOT.resolve("kastor").toString()));
    command.addAll(List.of(arguments));
    command.addAll(List.of("--kubeconfig", kubeconfig.toString()));
    if (!command.contains("-n") && !command.contains("-A")) {
      command.addAll(List.of("-n", TEAM));
    }
    return Shell.run(Map.of(), "", command);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
