package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.Measurements;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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

/**
 * A researcher's PyTorch script in an image of its own: submitted with one command, it grows,
 * shrinks, leaves a node that is drained, and ends with every example trained on once.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(14)
@Tag("nightly")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class PyTorchScenario {
  private static final String SYSTEM = "pytorch-system";
  private static final String TEAM = "pytorch-team";
  private static final String JOB = "cnn";
  private static final String IMAGE = "kastor.dev/e2e/pytorch-examples:1";

  /** Enough for all that happens to the job meanwhile: some minutes of a fast core. */
  private static final String EPOCHS = "45";

  private static final List<Integer> SIZES = List.of(2, 3, 1, 2);
  private static final Duration SOON = Duration.ofMinutes(4);
  private static final Duration LONG_PAUSE = Duration.ofSeconds(8);
  private static final String PAUSE = "pause of a rescale of a PyTorch job";
  private static final Pattern CHANGE =
      Pattern.compile("rank \\d+ of (\\d+) in generation (\\d+), .* pause (\\d+) ms");

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Measurements measured = new Measurements();
  private final Chart chart =
      new Chart(SYSTEM, "roundInterval=2s", "replicas=1", "checkpoints.claim=checkpoints");

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.baseline(TEAM);
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
  @DisplayName("kastor run submits a script in an image, and it trains")
  void submits() throws Exception {
    Shell.run(
            Shell.ROOT.resolve("kastor").toString(),
            "run",
            "--kubeconfig=" + System.getenv("KUBECONFIG"),
            "--namespace=" + TEAM,
            "--name=" + JOB,
            "--replicas=1-3",
            "--batch=64",
            "--image=" + IMAGE,
            "--detach",
            "--",
            "python",
            "cnn.py",
            "--epochs",
            EPOCHS)
        .good();
    jobs.pin(JOB, 1);
    until("it trains", SOON, () -> jobs.in(Phase.Running, JOB) && jobs.step(JOB) > 0);
    until("it has one replica", SOON, () -> jobs.running(JOB).size() == 1);
  }

  @Test
  @Order(2)
  @DisplayName("it grows and shrinks while the replicas that stay train on")
  void changesSizeLive() throws Exception {
    for (int replicas : SIZES) {
      Set<String> before = uids();
      jobs.pin(JOB, replicas);
      until(
          "it trains with %d replicas".formatted(replicas),
          SOON,
          () ->
              jobs.allocated(JOB) == replicas
                  && jobs.running(JOB).size() == replicas
                  && newest(replicas) >= 0);
      Set<String> after = uids();
      assertThat(after.size() > before.size() ? after : before)
          .as("replicas that trained before and after")
          .containsAll(after.size() > before.size() ? before : after);
      Duration pause = Duration.ofMillis(newest(replicas));
      measured.add(PAUSE, JOB, pause);
      Progress.say(
          "%d -> %d replicas: %d ms of pause".formatted(before.size(), replicas, pause.toMillis()));
    }
    // The status tells steps seldom: once for all sizes, as the job would end while it is awaited.
    long step = jobs.step(JOB);
    until("it trains on", SOON, () -> jobs.step(JOB) > step);
    assertThat(jobs.status(JOB).orElseThrow().restarts()).isIn(null, 0);
    measured.summary();
    assertThat(measured.of(PAUSE).p95()).isLessThanOrEqualTo(LONG_PAUSE);
  }

  @Test
  @Order(3)
  @DisplayName("it leaves a node that is drained, with its state")
  void leavesDrainedNode() throws Exception {
    jobs.pin(JOB, 1);
    until("it has one replica", SOON, () -> jobs.running(JOB).size() == 1 && newest(1) >= 0);
    String node = jobs.running(JOB).getFirst().getSpec().getNodeName();
    long step = jobs.step(JOB);

    try {
      Shell.run("fault", "drain", node).good();
      until(
          "it trains on another node",
          SOON,
          () ->
              jobs.running(JOB).size() == 1
                  && !jobs.running(JOB).getFirst().getSpec().getNodeName().equals(node)
                  && jobs.in(Phase.Running, JOB)
                  && jobs.step(JOB) > step);
    } finally {
      // Also after a failure: the scenarios that follow need all nodes.
      Shell.run("fault", "uncordon", node).good();
    }
  }

  @Test
  @Order(4)
  @DisplayName("it succeeds with its metric, and no example was lost or repeated")
  void succeeds() throws Exception {
    jobs.pin(JOB, 2);
    untilItSucceeds("it succeeds", JOB);
    TrainingStatus end = jobs.training(JOB).orElseThrow();
    InvariantViolation.unless(() -> assertThat(end.lostOrRepeatedExamples()).isZero());
    assertThat(end.finalMetric()).as("accuracy of ten classes").isGreaterThan(0.8);
  }

  private Set<String> uids() {
    return jobs.running(JOB).stream()
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  /**
   * The pause in ms with which all replicas came to the newest size that they tell of; negative
   * while that is another size, or while they do not agree.
   */
  private long newest(int replicas) {
    List<MatchResult> changes = jobs.running(JOB).stream().flatMap(pod -> last(pod)).toList();
    boolean agreed =
        changes.size() == replicas
            && changes.stream().allMatch(change -> change.group(1).equals("" + replicas))
            && changes.stream().map(change -> change.group(2)).distinct().count() == 1;
    return agreed
        ? changes.stream().mapToLong(change -> Long.parseLong(change.group(3))).max().orElse(-1)
        : -1;
  }

  private Stream<MatchResult> last(Pod pod) {
    String log = client.pods().resource(pod).getLog();
    return CHANGE.matcher(log).results().reduce((first, second) -> second).stream();
  }

  private void untilItSucceeds(String what, String job) throws Exception {
    Await.whileItMoves(
        what, SOON, jobs::describe, () -> jobs.step(job), () -> jobs.in(Phase.Succeeded, job));
  }

  private void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
    Await.until(what, limit, jobs::describe, condition);
  }
}
