package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.local.kubelet.PodVariables;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kills agents and the operator with SIGKILL while a job trains.
 *
 * <p>{@code -Dkastor.faultRuns=20} repeats it; each run has its own seed, named in failures.
 */
final class FaultIT {
  private static final int RUNS = Integer.getInteger("kastor.faultRuns", 1);
  private static final Duration FINISH = Duration.ofMinutes(6);

  /** What a run kills. */
  enum Victims {
    BOTH,
    AGENT,
    OPERATOR
  }

  record Fault(int run, Victims victims, List<Integer> atPercent) {}

  static Stream<Fault> faults() {
    return Stream.iterate(0, run -> run < RUNS, run -> run + 1)
        .map(run -> {
          Random random = new Random(4711 + run);
          return new Fault(
              run,
              Victims.values()[run % Victims.values().length],
              random.ints(2, 3, 85).sorted().boxed().toList());
        });
  }

  @ParameterizedTest
  @MethodSource("faults")
  void everyExampleCountsOnceHoweverOftenProcessesDie(Fault fault, @TempDir Path home)
      throws Exception {
    Random random = new Random(fault.run());
    try (StateFolder state = StateFolder.lock(home);
        LocalCluster cluster = start(state);
        KubernetesClient client = client(state)) {
      submit(client);
      for (int percent : fault.atPercent()) {
        TrainingJobStatus status = await(client, s -> percent(s) >= percent || finished(s));
        if (finished(status)) {
          break;
        }
        kill(fault.victims(), cluster, random);
      }
      TrainingJobStatus end = await(client, FaultIT::finished);
      assertThat(end.phase()).as("%s: %s", fault, end).isEqualTo(Phase.Succeeded);
      TrainingStatus training = Objects.requireNonNull(end.training());
      assertThat(training.lostOrRepeatedExamples()).as("%s: %s", fault, end).isZero();
      assertThat(training.finalMetric()).as("%s: %s", fault, end).isGreaterThan(0.9);
    } catch (AssertionError e) {
      Path logs = Path.of(System.getProperty("kastor.root"), "local/target/fault-" + fault.run());
      copy(home.resolve("logs"), logs);
      throw new AssertionError(e.getMessage() + "\nlogs: " + logs, e);
    }
    assertNoOrphans(home);
  }

  @Test
  void nothingOutlivesTheCluster(@TempDir Path home) throws Exception {
    try (StateFolder state = StateFolder.lock(home);
        LocalCluster cluster = start(state);
        KubernetesClient client = client(state)) {
      submit(client);
      await(client, s -> percent(s) > 0);
      assertThat(cluster.operatorPid()).isPresent();
    }
    assertNoOrphans(home);
  }

  private static LocalCluster start(StateFolder state) throws Exception {
    LocalCluster cluster =
        LocalCluster.start(
            new Installation(
                Path.of(System.getProperty("kastor.root")).toAbsolutePath().normalize()),
            state,
            new LocalOptions(
                2, 2, "pollux", state.plugins(), 0, Duration.ofSeconds(2), PodVariables.NONE, 0));
    cluster.awaitReady(System.out::println);
    return cluster;
  }

  private static KubernetesClient client(StateFolder state) throws IOException {
    return new KubernetesClientBuilder()
        .withConfig(Config.fromKubeconfig(Files.readString(state.kubeconfig())))
        .build();
  }

  private static void submit(KubernetesClient client) {
    client
        .resource(
            """
            apiVersion: kastor.dev/v1alpha1
            kind: TrainingJob
            metadata: {name: hardy, namespace: default}
            spec:
              program: {name: glyph-mlp}
              elastic: {maxReplicas: 2}
              checkpoint: {intervalSeconds: 2}
              faultTolerance: {backoffSeconds: 0}
              goodput:
                batchSize: {initial: 64, max: 512, perDevice: {min: 16, max: 128}}
                learningRate: {base: "0.05"}
                work: {steps: 3000}
            """)
        .create();
  }

  private static void kill(Victims victims, LocalCluster cluster, Random random) {
    if (victims != Victims.OPERATOR) {
      List<ProcessHandle> agents = agents();
      if (!agents.isEmpty()) {
        agents.get(random.nextInt(agents.size())).destroyForcibly();
      }
    }
    if (victims != Victims.AGENT) {
      cluster
          .operatorPid()
          .ifPresent(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
    }
  }

  private static List<ProcessHandle> agents() {
    return ProcessHandle.current()
        .descendants()
        .filter(p -> p.info().commandLine().orElse("").contains("dev.kastor.agent.Agent"))
        .toList();
  }

  private static TrainingJobStatus await(
      KubernetesClient client, Predicate<TrainingJobStatus> condition) throws InterruptedException {
    long end = System.nanoTime() + FINISH.toNanos();
    Optional<TrainingJobStatus> last = Optional.empty();
    while (System.nanoTime() < end) {
      TrainingJob job =
          client.resources(TrainingJob.class).inNamespace("default").withName("hardy").get();
      last = Optional.ofNullable(job).map(TrainingJob::getStatus);
      if (last.isPresent() && condition.test(last.get())) {
        return last.get();
      }
      Thread.sleep(50);
    }
    return fail("the job did not get there; its last status: " + last);
  }

  private static int percent(TrainingJobStatus status) {
    return status.training() == null ? 0 : status.training().percent();
  }

  private static boolean finished(TrainingJobStatus status) {
    return status.phase() == Phase.Succeeded || status.phase() == Phase.Failed;
  }

  /** No process that was started for this state folder is left, child of ours or adopted. */
  private static void assertNoOrphans(Path home) throws InterruptedException {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    Set<String> left;
    do {
      left =
          ProcessHandle.allProcesses()
              .filter(p -> p.pid() != ProcessHandle.current().pid())
              .map(p -> p.info().commandLine().orElse(""))
              .filter(line -> line.contains(home.toString()))
              .collect(Collectors.toSet());
      Thread.sleep(50);
    } while (!left.isEmpty() && System.nanoTime() < end);
    assertThat(left).isEmpty();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(target.getParent());
        Files.copy(file, target, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }
}
