package dev.kastor.cli.local;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.crds.start.StartPhase;
import dev.kastor.crds.start.StartTimes;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real {@code kastor up} that is stopped, killed, and given too little to run with. */
final class UpIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration SILENCE = Duration.ofSeconds(6);

  /** Seconds that a sleep of this test sleeps, by which it is found. */
  private final long seconds = 1_000_000 + ProcessHandle.current().pid();

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endAll() throws Exception {
    for (Process process : started) {
      process.destroy();
      if (!process.waitFor(Duration.ofSeconds(30))) {
        process.destroyForcibly().waitFor();
      }
    }
    sleeps().forEach(ProcessHandle::destroyForcibly);
  }

  private Path home() {
    return folder.resolve("home");
  }

  private Process up(Path output, String limits, String... jvmOptions) throws IOException {
    ProcessBuilder builder =
        KastorProcess.builder(home(), List.of(jvmOptions), "up", "--slots", "2", "--port", "0");
    builder.command().addAll(0, List.of("sh", "-c", limits + "exec \"$@\"", "sh"));
    builder.environment().put("KASTOR_AGENT_SILENCE", SILENCE.toSeconds() + "s");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    started.add(process);
    return process;
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      Thread.sleep(POLL);
    }
  }

  private static String said(Path output) {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      return "";
    }
  }

  private Process awaitUp(Path output, Process up) throws InterruptedException {
    await(said(output), () -> said(output).contains("kubeconfig") || !up.isAlive());
    assertThat(up.isAlive()).as(said(output)).isTrue();
    return up;
  }

  private KubernetesClient client() throws IOException {
    return new KubernetesClientBuilder()
        .withConfig(Config.fromKubeconfig(Files.readString(home().resolve("kubeconfig"))))
        .build();
  }

  private List<ProcessHandle> sleeps() {
    return ProcessHandle.allProcesses()
        .filter(p -> p.info().command().orElse("").endsWith("sleep"))
        .filter(p ->
            List.of(p.info().arguments().orElse(new String[0])).contains(Long.toString(seconds)))
        .toList();
  }

  private static boolean isAgent(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("dev.kastor.agent.Agent");
  }

  private static void signal(String name, List<ProcessHandle> processes) throws Exception {
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    processes.forEach(process -> command.add(Long.toString(process.pid())));
    assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
  }

  /** State of a process as in proc(5), such as T while it is stopped. */
  private static char state(Process process) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2);
    } catch (IOException e) {
      return ' ';
    }
  }

  /** Pods that are not being deleted, by uid, with their restarts. */
  private static Map<String, Integer> pods(KubernetesClient client) {
    return client.pods().inNamespace("default").list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .collect(
            toMap(
                pod -> pod.getMetadata().getUid(),
                pod ->
                    pod.getStatus().getContainerStatuses().stream()
                        .mapToInt(ContainerStatus::getRestartCount)
                        .sum()));
  }

  private static long step(KubernetesClient client, String name) {
    TrainingJob job =
        client.resources(TrainingJob.class).inNamespace("default").withName(name).get();
    return job.getStatus() == null || job.getStatus().training() == null
        ? 0
        : job.getStatus().training().step();
  }

  /** The starts of replicas that are over. */
  private static List<StartTimes> starts(KubernetesClient client) {
    TrainingJob job =
        client.resources(TrainingJob.class).inNamespace("default").withName("asleep").get();
    return job.getStatus() == null || job.getStatus().starts() == null
        ? List.of()
        : job.getStatus().starts().stream()
            .flatMap(line -> StartTimes.parse(line).stream())
            .filter(start -> start.total().isPresent())
            .toList();
  }

  /** Replicas that wake last have to be heard within the time that they may be silent for. */
  @Test
  @Tag("timing")
  void aMachineThatSleptFindsItsReplicasAlive() throws Exception {
    Path output = folder.resolve("output");
    Process up = awaitUp(output, up(output, ""));
    try (KubernetesClient client = client()) {
      client
          .resource(
              """
              apiVersion: kastor.dev/v1alpha1
              kind: TrainingJob
              metadata: {name: asleep, namespace: default}
              spec:
                program: {name: glyph-mlp}
                elastic: {minReplicas: 2, maxReplicas: 2}
                goodput:
                  batchSize: {initial: 64, max: 512, perDevice: {min: 16, max: 128}}
                  learningRate: {base: "0.05"}
                  work: {steps: 1000000}
              """)
          .create();
      await("it trains", () -> step(client, "asleep") > 0);
      await("its starts are told", () -> starts(client).size() == 2);
      assertThat(starts(client))
          .allSatisfy(start -> {
            assertThat(start.millis()).containsOnlyKeys(StartPhase.values());
            assertThat(start.millis().get(StartPhase.PROCESS)).as("a JVM starts").isPositive();
            assertThat(start.millis().values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(start.total().orElseThrow());
          });
      Map<String, Integer> before = pods(client);
      long reached = step(client, "asleep");
      List<ProcessHandle> all = Stream.concat(Stream.of(up.toHandle()), up.descendants()).toList();
      List<ProcessHandle> agents = all.stream().filter(UpIT::isAgent).toList();
      List<ProcessHandle> others = all.stream().filter(process -> !isAgent(process)).toList();
      signal("STOP", all);
      Thread.sleep(SILENCE.multipliedBy(2));
      signal("CONT", others);
      // The replicas are the last to wake.
      Thread.sleep(SILENCE.dividedBy(2));
      signal("CONT", agents);
      await("it trains on", () -> step(client, "asleep") > reached);
      assertThat(pods(client)).isEqualTo(before).hasSize(2);
    }
  }

  @Test
  void whatAKilledOneLeavesBehindIsEndedByTheNext() throws Exception {
    Path output = folder.resolve("first");
    Process first = awaitUp(output, up(output, ""));
    try (KubernetesClient client = client()) {
      client
          .resource(
              """
              apiVersion: kastor.dev/v1alpha1
              kind: TrainingJob
              metadata: {name: deaf, namespace: default}
              spec:
                elastic: {minReplicas: 1, maxReplicas: 1}
                template:
                  spec:
                    containers:
                    - name: main
                      image: none
                      command: [sh, -c, "trap '' TERM; setsid sleep %d & sleep %d & wait"]
              """
                  .formatted(seconds, seconds))
          .create();
      await("the pod's processes", () -> sleeps().size() == 2);
      List<ProcessHandle> left = sleeps();
      signal("STOP", List.of(first.toHandle()));
      await("it is stopped", () -> state(first) == 'T');
      signal("CONT", List.of(first.toHandle()));
      assertThat(client.pods().inNamespace("default").list().getItems()).hasSize(1);
      assertThat(sleeps()).isEqualTo(left);
      first.destroyForcibly().waitFor();
      assertThat(left).allMatch(ProcessHandle::isAlive);
      Path again = folder.resolve("second");
      Process second = awaitUp(again, up(again, ""));
      assertThat(left).noneMatch(process -> sleeps().contains(process));
      await("the job's next start", () -> sleeps().size() == 2);
      second.destroy();
      assertThat(second.waitFor(PATIENCE)).isTrue();
      assertThat(sleeps()).isEmpty();
    }
  }

  @Test
  void tooLittleToRunWithIsNamedAndLeavesNothing() throws Exception {
    for (Limit limit :
        List.of(
            new Limit("ulimit -n 200; ", "-Xmx320m", "200 open files"),
            new Limit("", "-Xmx12m", "OutOfMemoryError"))) {
      Path output = folder.resolve("output");
      Process up = up(output, limit.shell(), limit.jvmOption());
      assertThat(up.waitFor(PATIENCE)).as(said(output)).isTrue();
      assertThat(up.exitValue()).as(said(output)).isNotZero();
      assertThat(said(output)).contains(limit.named());
      assertThat(
              ProcessHandle.allProcesses()
                  .filter(p -> p.info().commandLine().orElse("").contains(home().toString())))
          .isEmpty();
    }
  }

  private record Limit(String shell, String jvmOption, String named) {}
}
