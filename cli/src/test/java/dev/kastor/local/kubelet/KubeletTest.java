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
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KubeletTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path folder;
  private ApiServer server;
  private Resources resources;
  private Kubelet kubelet;

  @BeforeEach
  void start() throws IOException {
    Path logs = folder.resolve("logs");
    server = ApiServer.start(0, (namespace, pod) -> Kubelet.log(logs, namespace, pod));
    resources = server.resources();
    kubelet =
        Kubelet.start(
            server,
            List.of(new LocalNode("a", 1, "cpu"), new LocalNode("b", 2, "cpu")),
            folder.resolve("pods"),
            logs,
            image -> List.of("sh", "-c", "echo image " + image));
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
          command: [sh, -c, 'echo $POD $NODE $(cat $RING) $FILE $JOB; echo "$PLAIN"; cat $TOKEN; sleep 60']
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
        script("sleep 60")
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
    create("p", script("exec sleep 600"));
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
}
