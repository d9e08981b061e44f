package dev.kastor.local.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.ApiServer;
import dev.kastor.local.api.Deletion;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.Options;
import dev.kastor.local.api.ResourceTypes;
import dev.kastor.local.api.Resources;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
final class KubeletTest {
  /** Says which image it is of, and where it was a spare, what it was given. */
  private static final String AGENT =
      "if [ \"$KASTOR_SPARE\" = true ]; then : > \"$KASTOR_LOCAL_FOLDER/ready\"; read -r line;"
          + " echo \"$line\"; fi; echo image $0";

  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir Path folder;
  private ApiServer server;
  private Resources resources;
  private Kubelet kubelet;

  @BeforeEach
  void start() throws IOException {
    start(0);
  }

  private void start(int spares) throws IOException {
    Path logs = folder.resolve("logs");
    server = ApiServer.start(0, (namespace, pod) -> Kubelet.log(logs, namespace, pod));
    resources = server.resources();
    kubelet =
        Kubelet.start(
            server,
            List.of(
                new LocalNode("a", 1, 1, "cpu", List.of()),
                new LocalNode("b", 2, 2, "gpu", List.of("5", "7"))),
            folder.resolve("pods"),
            logs,
            image -> List.of("sh", "-c", AGENT, image),
            (container, command) ->
                Map.of(
                    "MACHINE",
                    container.getOrDefault("WHO", "") + command.size(),
                    "WHO",
                    "machine"),
            spares);
  }

  @AfterEach
  void stop() {
    kubelet.close();
    server.close();
  }

  private void create(String name, String spec) throws IOException {
    ObjectNode pod = Json.object();
    Json.metadata(pod).put("name", name);
    pod.set("spec", Json.YAML.readTree(spec));
    resources.create(ResourceTypes.POD, "default", pod, Options.PLAIN);
  }

  /** A pod that runs a shell script, on one slot. */
  private static String script(String script) {
    return """
    terminationGracePeriodSeconds: 20
    containers:
    - name: main
      image: x
      command: [sh, -c, '%s']
      resources: {limits: {kastor.dev/slot: "1"}}
    """
        .formatted(script);
  }

  private ObjectNode await(String name, Predicate<ObjectNode> condition)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < end) {
      long revision = resources.revision();
      ObjectNode pod = resources.get(ResourceTypes.POD, "default", name);
      if (condition.test(pod)) {
        return pod;
      }
      resources.awaitChange(ResourceTypes.POD, revision, Duration.ofSeconds(1));
    }
    throw new AssertionError("not in time: " + resources.get(ResourceTypes.POD, "default", name));
  }

  private void awaitGone(String name) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (resources.find(ResourceTypes.POD, "default", name) != null) {
      assertThat(System.nanoTime()).isLessThan(end);
      resources.awaitChange(ResourceTypes.POD, resources.revision(), Duration.ofMillis(200));
    }
  }

  private static Predicate<ObjectNode> phase(String phase) {
    return pod -> pod.at("/status/phase").asText().equals(phase);
  }

  @Test
  void reportsExitCodeAndLastWords() throws Exception {
    create("good", "containers: [{name: main, image: agent:1}]");
    create(
        "bad",
        script("echo bye > \"$LOG\"; exit 7")
            .replace("image: x", "image: x\n  env: [{name: LOG, value: /dev/termination-log}]"));
    await("good", phase("Succeeded"));
    assertThat(folder.resolve("logs/default/good.log")).hasContent("image agent:1");
    JsonNode terminated =
        await("bad", phase("Failed")).at("/status/containerStatuses/0/state/terminated");
    assertThat(terminated.path("exitCode").asInt()).isEqualTo(7);
    assertThat(terminated.path("message").asText()).isEqualTo("bye\n");
  }

  @Test
  void variablesOfTheMachineComeBesideThoseOfTheContainer() throws Exception {
    create(
        "told",
        script("echo $MACHINE $WHO")
            .replace("image: x", "image: x\n  env: [{name: WHO, value: me}]"));
    await("told", phase("Succeeded"));
    assertThat(folder.resolve("logs/default/told.log")).hasContent("me3 me");
  }

  @Test
  void runsWhereThePodSays() throws Exception {
    Path where = Files.createDirectory(folder.resolve("project"));
    create("there", script("pwd").replace("image: x", "image: x\n  workingDir: " + where));
    await("there", phase("Succeeded"));
    assertThat(folder.resolve("logs/default/there.log")).hasContent(where.toRealPath().toString());
  }

  @Test
  void givesVariablesAndFilesToThePod() throws Exception {
    ObjectNode secret = Json.object();
    Json.metadata(secret).put("name", "ring");
    secret.putObject("stringData").put("secret", "s3cret");
    resources.create(ResourceTypes.SECRET, "default", secret, Options.PLAIN);
    create(
        "p",
        """
        containers:
        - name: main
          image: x
          command: [sh, -c, 'echo $POD $NODE $(cat $RING) $FILE $JOB; echo "$PLAIN"; cat $TOKEN; sleep 3600']
          env:
          - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
          - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
          - {name: RING, value: /ring/secret}
          - {name: TOKEN, value: /token/token}
          - {name: FILE, value: $(RING)}
          - {name: PLAIN, value: '$$(POD) a$$$$b $(NONE) $'}
          - {name: JOB, valueFrom: {secretKeyRef: {name: ring, key: secret}}}
          volumeMounts:
          - {name: ring, mountPath: /ring}
          - {name: token, mountPath: /token}
        volumes:
        - {name: ring, secret: {secretName: ring}}
        - name: token
          projected: {sources: [{serviceAccountToken: {audience: kastor/default/j, path: token}}]}
        """);
    ObjectNode pod = await("p", phase("Running"));
    Path ring = folder.resolve("pods").resolve(Json.uid(pod)).resolve("volumes/ring/secret");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(ring)))
        .isEqualTo("rw-------");
    Path log = folder.resolve("logs/default/p.log");
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (Files.readString(log).lines().count() < 2 && System.nanoTime() < end) {
      resources.awaitChange(ResourceTypes.POD, resources.revision(), Duration.ofMillis(50));
    }
    assertThat(Files.readString(log))
        .startsWith("p a s3cret " + ring + " s3cret\n$(POD) a$$b $(NONE) $\n");
  }

  @Test
  void waitsForAMissingSecret() throws Exception {
    create(
        "p",
        """
        containers: [{name: main, image: x}]
        volumes: [{name: ring, secret: {secretName: later}}]
        """);
    await(
        "p",
        pod ->
            pod.at("/status/containerStatuses/0/state/waiting/message")
                .asText()
                .equals("Secret later does not exist"));
    ObjectNode secret = Json.object();
    Json.metadata(secret).put("name", "later");
    resources.create(ResourceTypes.SECRET, "default", secret, Options.PLAIN);
    await("p", phase("Succeeded"));
  }

  @Test
  void respectsAffinityAndRoom() throws Exception {
    String onA =
        script("sleep 3600")
            + """
            affinity:
              nodeAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  nodeSelectorTerms:
                  - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]
            """;
    create("first", onA.formatted("a"));
    assertThat(await("first", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("a");
    create("second", onA.formatted("a"));
    create("third", onA.formatted("b"));
    assertThat(await("third", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("b");
    assertThat(
            resources
                .get(ResourceTypes.POD, "default", "second")
                .at("/status/conditions/0/reason")
                .asText())
        .isEqualTo("Unschedulable");
    resources.delete(ResourceTypes.POD, "default", "first", Deletion.DEFAULT);
    assertThat(await("second", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("a");
  }

  @Test
  void aPodOfSeveralSlotsNeedsThemAllOnOneNode() throws Exception {
    String two = script("sleep 3600").replace("slot: \"1\"", "slot: \"2\"");
    create("wide", two);
    assertThat(await("wide", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("b");
    create("narrow", script("sleep 3600"));
    assertThat(await("narrow", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("a");
    create("second", two);
    ObjectNode waits = await("second", pod -> !pod.at("/status/conditions").isEmpty());
    assertThat(waits.at("/status/conditions/0/message").asText()).contains("has 2 free slots");
    resources.delete(ResourceTypes.POD, "default", "wide", Deletion.DEFAULT);
    assertThat(await("second", phase("Running")).at("/spec/nodeName").asText()).isEqualTo("b");
  }

  private String said(String name) throws Exception {
    Path log = folder.resolve("logs/default/" + name + ".log");
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!(Files.exists(log) && Files.readString(log).endsWith("\n"))) {
      assertThat(System.nanoTime()).isLessThan(end);
      resources.awaitChange(ResourceTypes.POD, resources.revision(), Duration.ofMillis(50));
    }
    return Files.readString(log).strip();
  }

  @Test
  void eachPodOfANodeWithGpusHasItsOwn() throws Exception {
    String onB = script("echo gpu $CUDA_VISIBLE_DEVICES; sleep 3600") + "nodeName: b\n";
    create("first", onB);
    create("second", onB);
    assertThat(List.of(said("first"), said("second"))).containsExactlyInAnyOrder("gpu 5", "gpu 7");
    String freed = said("first");
    resources.delete(ResourceTypes.POD, "default", "first", Deletion.NOW);
    awaitGone("first");
    create("third", onB);
    assertThat(said("third")).isEqualTo(freed);
    resources.delete(ResourceTypes.POD, "default", "second", Deletion.NOW);
    resources.delete(ResourceTypes.POD, "default", "third", Deletion.NOW);
    create("wide", onB.replace("slot: \"1\"", "slot: \"2\""));
    assertThat(said("wide").replace("gpu ", "").split(",", -1)).containsExactlyInAnyOrder("5", "7");
  }

  @Test
  void podsOfAServiceMeetOnThisMachine() throws Exception {
    String gang =
        """
        subdomain: %s
        containers:
        - name: main
          image: x
          command: [sh, -c, 'echo $MASTER_ADDR $MASTER_PORT $COORDINATOR $OTHER; sleep 3600']
          env:
          - {name: MASTER_ADDR, value: a-0.%s.default.svc}
          - {name: MASTER_PORT, value: "29500"}
          - {name: COORDINATOR, value: "a-0.%s.default.svc:29500"}
          - {name: OTHER, value: a-0.elsewhere.default.svc}
        """;
    create("a-0", gang.replace("%s", "a-gang"));
    create("a-1", gang.replace("%s", "a-gang"));
    create("b-0", gang.replace("%s", "b-gang"));
    String port = said("a-0").split(" ", -1)[1];
    String expected = "127.0.0.1 %s 127.0.0.1:%s a-0.elsewhere.default.svc".formatted(port, port);
    assertThat(said("a-0")).isEqualTo(expected);
    assertThat(said("a-1")).isEqualTo(expected);
    assertThat(said("b-0").split(" ", -1)[1]).isNotEqualTo(port);
  }

  @Test
  void letsADeletedPodFinishAndKillsOneThatDoesNotListen() throws Exception {
    create("polite", script("trap \"exit 0\" TERM; echo up; while :; do sleep 0.1; done"));
    create("deaf", script("trap \"\" TERM; echo up; while :; do sleep 0.1; done"));
    for (String name : List.of("polite", "deaf")) {
      await(name, phase("Running"));
      long end = System.nanoTime() + PATIENCE.toNanos();
      Path log = folder.resolve("logs/default/" + name + ".log");
      while (Files.size(log) == 0 && System.nanoTime() < end) {
        resources.awaitChange(ResourceTypes.POD, resources.revision(), Duration.ofMillis(50));
      }
    }
    resources.delete(ResourceTypes.POD, "default", "polite", Deletion.DEFAULT);
    resources.delete(ResourceTypes.POD, "default", "deaf", new Deletion(1L, false, null, null));
    awaitGone("polite");
    awaitGone("deaf");
  }

  @Test
  void endsAllProcessesWhenClosed() throws Exception {
    create("p", script("exec sleep 36000"));
    ObjectNode pod = await("p", phase("Running"));
    long pid =
        Long.parseLong(
            pod.at("/status/containerStatuses/0/containerID")
                .asText()
                .substring("process://".length()));
    assertThat(ProcessHandle.of(pid)).isPresent();
    kubelet.close();
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
  }

  /** A pod that cannot be started, whatever is tried. */
  private void createBad(String name, String command, String value) throws IOException {
    create(
        name,
        """
        containers:
        - name: main
          image: x
          command: [%s]
          env: [{name: NOTE, value: "%s"}]
        """
            .formatted(command, value));
  }

  private String whyFailed(String name) throws InterruptedException {
    JsonNode terminated =
        await(name, phase("Failed")).at("/status/containerStatuses/0/state/terminated");
    assertThat(terminated.path("reason").asText()).isEqualTo("StartError");
    assertThat(terminated.path("exitCode").asInt()).isEqualTo(128);
    return terminated.path("message").asText();
  }

  @Test
  void aPodThatCannotBeStartedFailsAndStopsNoOther() throws Exception {
    createBad("a-missing", "/nonexistent/program", "x");
    createBad("b-not-on-path", "no-such-program-anywhere", "x");
    createBad("c-nul-in-value", "echo", "a\\0b");
    createBad("d-nul-in-command", "echo, \"a\\0b\"", "x");
    createBad("e-too-long", "echo", "x".repeat(200_000));
    create(
        "f-bad-volume",
        "{containers: [{name: m, image: x}], volumes: [{name: v, hostPath: {path: \"a\\0b\"}}]}");
    create("g-nowhere", script("pwd").replace("image: x", "image: x\n  workingDir: /no/folder"));
    create("h-two", "containers: [{name: a, image: x}, {name: b, image: x}]");
    create("i-init", "{initContainers: [{name: a, image: x}], containers: [{name: b, image: x}]}");
    create("z-good", script("exit 0"));
    await("z-good", phase("Succeeded"));
    assertThat(whyFailed("a-missing")).contains("/nonexistent/program");
    assertThat(whyFailed("b-not-on-path")).contains("no-such-program-anywhere", "PATH");
    assertThat(whyFailed("c-nul-in-value")).contains("NOTE", "NUL");
    assertThat(whyFailed("d-nul-in-command")).contains("NUL");
    assertThat(whyFailed("e-too-long")).contains("too long");
    assertThat(whyFailed("g-nowhere")).contains("workingDir /no/folder");
    assertThat(whyFailed("h-two")).contains("2 containers and 0 init containers");
    assertThat(whyFailed("i-init")).contains("1 containers and 1 init containers");
    await(
        "f-bad-volume",
        pod ->
            pod.at("/status/containerStatuses/0/state/waiting/reason")
                .asText()
                .equals("CreateContainerConfigError"));
    assertThat(kubelet.failure()).isEmpty();
  }

  @Test
  void endsAllThatAPodStarted() throws Exception {
    for (String end : List.of("wait", "exit 3")) {
      String name = "p" + end.length();
      Path go = folder.resolve("go-" + name);
      assertThat(new ProcessBuilder("mkfifo", go.toString()).start().waitFor()).isZero();
      create(
          name,
          script(
              "sleep 7777 & setsid sleep 7778 & echo $! >pids; echo $$ >>pids; read go <%s; %s"
                  .formatted(go, end)));
      List<ProcessHandle> started = marked(name, 3);
      Files.writeString(go, "now\n");
      if (end.equals("wait")) {
        resources.delete(ResourceTypes.POD, "default", name, new Deletion(1L, false, null, null));
        awaitGone(name);
      } else {
        await(name, phase("Failed"));
      }
      // A handle also calls those alive that nobody has asked for their exit code yet.
      assertThat(started).allMatch(process -> ProcessEntry.of(process).isEmpty());
    }
  }

  /** The processes that a pod started, as soon as there are so many. */
  private List<ProcessHandle> marked(String name, int count) throws Exception {
    ObjectNode pod = await(name, phase("Running"));
    long leader =
        Long.parseLong(
            pod.at("/status/containerStatuses/0/containerID")
                .asText()
                .substring("process://".length()));
    long end = System.nanoTime() + PATIENCE.toNanos();
    List<ProcessHandle> all = List.of();
    while (all.size() < count && System.nanoTime() < end) {
      all =
          Stream.concat(
                  ProcessHandle.of(leader).stream(),
                  ProcessHandle.of(leader).stream().flatMap(ProcessHandle::descendants))
              .filter(p -> !p.info().command().orElse("").endsWith("/1"))
              .toList();
      resources.awaitChange(ResourceTypes.POD, resources.revision(), Duration.ofMillis(20));
    }
    assertThat(all).hasSizeGreaterThanOrEqualTo(count);
    return all;
  }

  @Test
  void endsWhatAKilledOneLeftBehindAndNothingElse() throws Exception {
    kubelet.close();
    Path pods = folder.resolve("pods");
    Process left = sleeper(pods.resolve("uid-1"));
    Process stranger = sleeper(folder.resolve("pods-of-another/uid-1"));
    Process reused = new ProcessBuilder("sleep", "7779").start();
    PrivateFiles.write(
        pods.resolve("uid-2").resolve("process"),
        (reused.pid() + " 1").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    try {
      stop();
      start();
      assertThat(left.waitFor(PATIENCE)).isTrue();
      assertThat(stranger.isAlive()).isTrue();
      assertThat(reused.isAlive()).isTrue();
      assertThat(pods.resolve("uid-1")).doesNotExist();
      assertThat(pods.resolve("uid-2")).doesNotExist();
    } finally {
      List.of(left, stranger, reused).forEach(Process::destroyForcibly);
    }
  }

  private static Process sleeper(Path podFolder) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("setsid", "sh", "-c", "trap '' TERM; exec sleep 7780");
    builder.environment().put("KASTOR_LOCAL_FOLDER", podFolder.toString());
    PrivateFiles.directory(podFolder);
    return builder.start();
  }

  @Test
  void theThirdPodOfAKindIsASpare() throws Exception {
    stop();
    start(1);
    for (String name : List.of("one", "two")) {
      create(name, "containers: [{name: main, image: agent:1}]");
      await(name, phase("Succeeded"));
    }
    Path spare = folder.resolve("pods/spare-0");
    awaitThat(() -> Files.exists(spare.resolve("ready")));
    String pid = Files.readString(spare.resolve("process")).split(" ", 2)[0];

    create(
        "three", "containers: [{name: main, image: agent:1, env: [{name: KASTOR_A, value: b}]}]");
    ObjectNode pod = await("three", phase("Succeeded"));

    assertThat(pod.at("/status/containerStatuses/0/containerID").asText())
        .isEqualTo("process://" + pid);
    assertThat(Files.readString(folder.resolve("logs/default/three.log")))
        .contains("\"KASTOR_A\":\"b\"")
        .endsWith("image agent:1\n");
    awaitThat(() -> !Files.exists(spare));
  }

  private static void awaitThat(BooleanSupplier holds) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!holds.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.sleep(20);
    }
  }
}
