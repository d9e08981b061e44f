package dev.kastor.e2e.release;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Change;
import dev.kastor.e2e.cluster.CommandBlocks;
import dev.kastor.e2e.cluster.Helm;
import dev.kastor.e2e.cluster.Inventory;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Operator;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
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
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of a release on a cluster: a platform team installs them from a registry that asks for a
 * password, an admin of a namespace trains a job with the release's own command, the release before
 * is upgraded while it trains, and in the end nothing is left.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class ReleaseScenario {
  /** Property with the folder of the release before; without it there is no upgrade. */
  private static final String BEFORE = "kastor.e2e.before";

  private static final String SYSTEM = "kastor-system";
  private static final String TEAM = "research";
  private static final String OTHERS = "vision";
  private static final String ADMIN = "admin";
  private static final String EDITOR = "edit";
  private static final String SECRET = "registry";
  private static final String JOB = "glyph-mlp";
  private static final String LATER = "later";
  private static final String USER = "platform";

  /** Of the control plane, which nodes reach; as {@code e2e/inside} has it. */
  private static final String HOST = "10.250.0.1";

  private static final int PORT = 5000;
  private static final String REGISTRY = HOST + ":" + PORT;
  private static final String CHART = "oci://" + REGISTRY + "/" + ReleaseFolder.CHART;
  private static final Path STATE = Path.of(System.getenv().getOrDefault("KASTOR_E2E_STATE", "."));
  private static final String AUTHORITY = STATE.resolve("pki/ca.crt").toString();
  private static final Duration SOON = Duration.ofMinutes(5);
  private static final Duration LONG = Duration.ofMinutes(15);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final String password = password();
  private final ReleaseFolder release;
  private final ReleaseFolder first;
  private final Registry registry;
  private Inventory untouched = new Inventory(Set.of());
  private Path folder = Path.of(".");
  private Path kastor = Path.of("kastor");

  ReleaseScenario() throws Exception {
    release = ReleaseFolder.of(Path.of(System.getProperty("kastor.e2e.release", ".")));
    String before = System.getProperty(BEFORE);
    first = before == null ? release : ReleaseFolder.of(Path.of(before));
    HttpsServer server = HttpsServer.create(new InetSocketAddress(HOST, PORT), 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(ServerKey.read(STATE.resolve("pki/registry.p12"), "registry")));
    registry = new Registry(server, USER, password);
  }

  @BeforeAll
  void prepare(@TempDir Path fresh) throws Exception {
    folder = fresh;
    release.offer(registry);
    if (!first.equals(release)) {
      first.offer(registry);
    }
    trustRegistry();
    Namespaces namespaces = new Namespaces(client);
    for (String namespace : List.of(TEAM, OTHERS)) {
      namespaces.restricted(namespace);
    }
    namespaces.shared(TEAM, "checkpoints");
    for (String role : List.of(ADMIN, EDITOR)) {
      kubectl("create", "serviceaccount", role, "-n", TEAM).good();
      kubectl(
              "create",
              "rolebinding",
              role,
              "-n",
              TEAM,
              "--clusterrole=" + role,
              "--serviceaccount=" + TEAM + ":" + role)
          .good();
    }
    kastor = release.unpack(folder).resolve("kastor");
    untouched = Inventory.take();
    namespaces.restricted(SYSTEM);
  }

  @AfterAll
  void close() throws IOException {
    registry.close();
    Files.write(
        Path.of(System.getenv("KASTOR_E2E_LOGS")).resolve("registry.log"),
        registry.requests().stream().map(String::valueOf).toList());
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("the registry refuses helm without a password; with one, the chart installs")
  void installs() throws Exception {
    Path values = folder.resolve("values.yaml");
    Files.writeString(values, documentedValues());
    List<String> install =
        new ArrayList<>(
            List.of(
                "install",
                "kastor",
                CHART,
                "--version",
                first.version(),
                "--namespace",
                SYSTEM,
                "--ca-file",
                AUTHORITY,
                "--wait",
                "--timeout",
                "6m",
                "--values",
                values.toString(),
                "--set",
                "tenants.aggregate=true,checkpoints.claim=checkpoints,roundInterval=5s",
                "--set",
                "summaryInterval=2s"));
    assertThat(Shell.run("ip", "route", "show", "default").good())
        .as("ways out of the cluster: all must come from the files of the release")
        .isEmpty();
    Shell.Result refused = helm("", install);
    assertThat(refused.status()).isNotZero();
    assertThat(refused.err()).contains("credential");
    assertThat(registry.requests())
        .as("what helm asked for")
        .isNotEmpty()
        .allMatch(request -> request.client().startsWith("Helm") && request.status() == 401);

    helm(
            password,
            List.of(
                "registry",
                "login",
                REGISTRY,
                "--username",
                USER,
                "--password-stdin",
                "--ca-file",
                AUTHORITY))
        .good();
    pullSecret(List.of("-n", SYSTEM));
    assertThat(helm("", install).good()).contains("STATUS: deployed");

    assertThat(operators())
        .hasSize(2)
        .allSatisfy(pod -> assertThat(image(pod)).isEqualTo(operatorOf(first)));
    assertThat(registry.requests())
        .as("layers that containerd was given")
        .anyMatch(request ->
            request.client().startsWith("containerd")
                && request.path().contains("/" + ReleaseFolder.OPERATOR + "/blobs/")
                && request.status() == 200);
    assertThat(new Operator(client, SYSTEM).get("/metrics"))
        .contains("kastor_build_info{version=\"%s\"".formatted(first.version()));
  }

  @Test
  @Order(2)
  @DisplayName("an admin of the namespace submits a job, which says that its image needs a Secret")
  void submits() throws Exception {
    assertThat(kubectl("auth", "can-i", "create", "trainingjobs", "-n", OTHERS, as(ADMIN)).out())
        .as("in another namespace")
        .startsWith("no");
    assertThat(
            kubectl(
                    "auth",
                    "can-i",
                    "patch",
                    "trainingjobs",
                    "--subresource=status",
                    "-n",
                    TEAM,
                    as(ADMIN))
                .out())
        .startsWith("no");
    assertThat(kastor(ADMIN, "submit", manifest(JOB, 120_000).toString()).good()).contains(JOB);
    Await.until(
        "the job says that its image is refused",
        SOON,
        jobs::describe,
        () -> kastor(ADMIN, "why", JOB).good().matches("(?s).*(ErrImagePull|ImagePullBackOff).*"));
    assertThat(registry.requests())
        .anyMatch(
            request -> request.status() == 401 && request.path().contains(ReleaseFolder.AGENT));
  }

  @Test
  @Order(3)
  @DisplayName("with the Secret it trains, and who may edit in the namespace watches it")
  void trains() throws Exception {
    pullSecret(List.of("-n", TEAM, as(ADMIN)));
    until("it trains", () -> jobs.in(Phase.Running, JOB) && jobs.step(JOB) > 0);
    assertThat(jobs.running(JOB))
        .isNotEmpty()
        .allSatisfy(pod -> assertThat(image(pod)).isEqualTo(agentOf(first)));
    assertThat(kastor(EDITOR, "ls").good()).contains(JOB, "Running");
    assertThat(kastor(EDITOR, "describe", JOB).good()).contains("glyph-mlp");
    assertThat(kastor(EDITOR, "logs", JOB, "--rank", "0").good()).contains("trains with 1 replica");
    kastor(EDITOR, "pin", JOB, "--at", "2").good();
    until("it has two replicas", () -> jobs.allocated(JOB) == 2 && jobs.running(JOB).size() == 2);
    until("both train", () -> Change.of(TEAM, JOB).getLast().after() == 2);
  }

  @Test
  @Order(4)
  @DisplayName("the release before is upgraded as install.md says, and training goes on")
  @EnabledIfSystemProperty(named = BEFORE, matches = ".+")
  void upgrades() throws Exception {
    until("it is in the middle of its work", () -> jobs.step(JOB) > 2_000);
    Set<String> replicas = uids(JOB);
    List<Change> changes = changesOfSize();
    long version = jobs.version(JOB);
    long step = jobs.step(JOB);

    String[] at = {"--version", release.version(), "--ca-file", AUTHORITY};
    helm("", List.of("pull", CHART, "--untar", "--untardir", folder.toString()), at).good();
    kubectl(
            "apply",
            "--server-side",
            "--force-conflicts",
            "-f",
            folder.resolve("kastor/crds").toString())
        .good();
    List<String> upgrade =
        List.of(
            "upgrade",
            "kastor",
            CHART,
            "--namespace",
            SYSTEM,
            "--reset-then-reuse-values",
            "--wait",
            "--timeout",
            "6m");
    long begun = System.nanoTime();
    assertThat(helm("", upgrade, at).good()).contains("STATUS: deployed");
    Progress.say("upgraded in %.0f s".formatted((System.nanoTime() - begun) / 1e9));

    String operator = operatorOf(release);
    until(
        "both operators are those of the new release",
        () ->
            operators().size() == 2
                && operators().stream().allMatch(pod -> image(pod).equals(operator)));
    assertThat(new Operator(client, SYSTEM).get("/metrics"))
        .contains("kastor_build_info{version=\"%s\"".formatted(release.version()));
    until("the new operator hears of the job", () -> jobs.step(JOB) > step);
    long after = jobs.step(JOB);
    until("it trains on", () -> jobs.step(JOB) > after);
    Progress.say("%s: step %d before the upgrade, %d after".formatted(JOB, step, after));
    assertThat(uids(JOB)).as("replicas").isEqualTo(replicas);
    assertThat(jobs.version(JOB)).as("allocation").isEqualTo(version);
    assertThat(changesOfSize()).as("starts, failures and changes of its size").isEqualTo(changes);
    assertThat(jobs.running(JOB))
        .allSatisfy(pod -> assertThat(image(pod)).isEqualTo(agentOf(first)))
        .allMatch(pod -> pod.getStatus().getContainerStatuses().getFirst().getRestartCount() == 0);
  }

  @Test
  @Order(5)
  @DisplayName("a replica of the new release joins those of the one before, and a new job is new")
  @EnabledIfSystemProperty(named = BEFORE, matches = ".+")
  void mixes() throws Exception {
    Set<String> replicas = uids(JOB);
    kastor(ADMIN, "pin", JOB, "--at", "3").good();
    until("three train", () -> Change.of(TEAM, JOB).getLast().after() == 3);
    assertThat(uids(JOB)).containsAll(replicas);
    assertThat(jobs.running(JOB))
        .extracting(ReleaseScenario::image)
        .containsOnly(agentOf(first), agentOf(release))
        .containsOnlyOnce(agentOf(release));
    kastor(EDITOR, "submit", manifest(LATER, 2_000).toString()).good();
    until("the new job runs", () -> jobs.in(Phase.Running, LATER));
    assertThat(jobs.running(LATER))
        .allSatisfy(pod -> assertThat(image(pod)).isEqualTo(agentOf(release)));
    Await.until("it succeeds", LONG, jobs::describe, () -> jobs.in(Phase.Succeeded, LATER));
  }

  @Test
  @Order(6)
  @DisplayName("the job succeeds, and no example was lost or repeated")
  void succeeds() throws Exception {
    kastor(ADMIN, "pin", JOB, "--unpin").good();
    Await.until("it succeeds", LONG, jobs::describe, () -> jobs.in(Phase.Succeeded, JOB));
    assertThat(jobs.training(JOB).orElseThrow().lostOrRepeatedExamples()).isZero();
    assertThat(jobs.status(JOB).orElseThrow().restarts()).isIn(null, 0);
    assertThat(kastor(EDITOR, "describe", JOB).good()).contains("Succeeded");
  }

  @Test
  @Order(7)
  @DisplayName("removed as install.md says, it leaves nothing of any kind on the cluster")
  void uninstalls() throws Exception {
    assertThat(Inventory.take().since(untouched))
        .as("what can be seen while it is there")
        .anyMatch(object -> object.startsWith("CustomResourceDefinition/"))
        .anyMatch(object -> object.startsWith("ClusterRole/"))
        .anyMatch(object -> object.startsWith("TrainingJob/"));
    String text = CommandBlocks.document("install.md");
    String both = text.substring(text.indexOf("## Uninstall"));
    // Of the two ways, the one that leaves nothing: what follows the first block.
    assertThat(CommandBlocks.run(both.substring(both.indexOf("\n\n```sh")), folder)).hasSize(1);
    Await.until("nothing is left", SOON, () -> left().toString(), () -> left().isEmpty());
  }

  /** Objects that were not there before the installation, but for the tenant's own Secret. */
  private Set<String> left() {
    try {
      Set<String> left = Inventory.take().since(untouched);
      left.remove("Secret/%s/%s".formatted(TEAM, SECRET));
      return left;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** The values with which install.md takes images from a private registry. */
  private static String documentedValues() throws IOException {
    String text = CommandBlocks.document("install.md");
    int begin = text.indexOf("image:\n  registry:");
    String values = text.substring(begin, text.indexOf("```", begin));
    assertThat(values).contains("pullSecrets", "imagePullSecrets");
    return values.replace("registry.example.com", REGISTRY);
  }

  /** Nodes take the authority of the cluster for that of the registry. */
  private static void trustRegistry() throws IOException {
    Path hosts = Files.createDirectories(STATE.resolve("registries").resolve(REGISTRY));
    Files.writeString(
        hosts.resolve("hosts.toml"),
        """
        server = "https://%1$s"

        [host."https://%1$s"]
          ca = "%2$s"
        """
            .formatted(REGISTRY, AUTHORITY));
  }

  private void pullSecret(List<String> where) throws IOException, InterruptedException {
    List<String> command =
        Shell.command(
            "kubectl",
            "create",
            "secret",
            "docker-registry",
            SECRET,
            "--docker-server=" + REGISTRY,
            "--docker-username=" + USER,
            "--docker-password=" + password);
    command.addAll(where);
    Shell.run(Map.of(), "", command).good();
  }

  private Path manifest(String name, int steps) throws IOException {
    String example =
        Files.readString(kastor.resolveSibling("examples").resolve("glyph-mlp.yaml"))
            .replace("name: glyph-mlp\nspec", "name: " + name + "\nspec")
            .replace("maxReplicas: 4", "maxReplicas: 3")
            .replace("steps: 24000", "steps: " + steps);
    assertThat(example).contains("name: " + name, "maxReplicas: 3", "steps: " + steps);
    return Files.writeString(folder.resolve(name + ".yaml"), example);
  }

  /** The release's own command, with a token of an account that has one role in the namespace. */
  private Shell.Result kastor(String account, String... arguments)
      throws IOException, InterruptedException {
    String token = kubectl("create", "token", account, "-n", TEAM).good().strip();
    Path kubeconfig =
        Files.writeString(
            folder.resolve(account + ".kubeconfig"),
            """
            {"apiVersion": "v1", "kind": "Config", "current-context": "t",
             "clusters": [{"name": "c", "cluster": {"server": "%s", "certificate-authority": "%s"}}],
             "contexts": [{"name": "t", "context": {"cluster": "c", "user": "u"}}],
             "users": [{"name": "u", "user": {"token": "%s"}}]}
            """
                .formatted(client.getMasterUrl(), AUTHORITY, token));
    List<String> command = Shell.command(kastor.toString(), arguments);
    command.addAll(List.of("--kubeconfig", kubeconfig.toString(), "-n", TEAM));
    // As on a machine without a JDK: the release brings what it runs on.
    return Shell.run(Map.of("JAVA_HOME", "/nowhere"), "", command);
  }

  private static String as(String account) {
    return "--as=system:serviceaccount:%s:%s".formatted(TEAM, account);
  }

  private static Shell.Result kubectl(String... arguments)
      throws IOException, InterruptedException {
    return Shell.run(Map.of(), "", Shell.command("kubectl", arguments));
  }

  private static Shell.Result helm(String input, List<String> arguments, String... more)
      throws IOException, InterruptedException {
    List<String> command = Shell.command(Helm.program());
    command.addAll(arguments);
    command.addAll(List.of(more));
    return Shell.run(Map.of(), input, command);
  }

  private List<Pod> operators() {
    return client
        .pods()
        .inNamespace(SYSTEM)
        .withLabel("app.kubernetes.io/name", "kastor")
        .list()
        .getItems()
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .toList();
  }

  private static String operatorOf(ReleaseFolder release) throws IOException {
    return REGISTRY + "/" + ReleaseFolder.OPERATOR + "@" + release.digest(ReleaseFolder.OPERATOR);
  }

  private static String agentOf(ReleaseFolder release) throws IOException {
    return REGISTRY + "/" + ReleaseFolder.AGENT + "@" + release.digest(ReleaseFolder.AGENT);
  }

  /** The image of a pod, as the container engine says that it runs it. */
  private static String image(Pod pod) {
    return pod.getStatus().getContainerStatuses().getFirst().getImageID();
  }

  private Set<String> uids(String name) {
    return jobs.running(name).stream()
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  /** Changes of the job's replicas; a change of the batch alone is none. */
  private static List<Change> changesOfSize() throws IOException {
    return Change.of(TEAM, JOB).stream()
        .filter(change -> change.before() != change.after() || !change.cause().equals("RESCALE"))
        .toList();
  }

  private static String password() {
    byte[] bytes = new byte[12];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
