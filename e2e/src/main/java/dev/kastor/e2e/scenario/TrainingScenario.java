package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.e2e.cluster.Change;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.GpuWatch;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.SlowStore;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.Measurements;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A platform team installs Kastor, three jobs of the examples train in real pods, the chart is
 * upgraded, one job grows and shrinks while it trains, all of them end well, and Kastor is removed
 * again.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(1)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class TrainingScenario {
  private static final String SYSTEM = "kastor-system";
  private static final String TEAM = "team";
  private static final List<String> EXAMPLES = List.of("glyph-mlp", "glyph-cnn", "byte-lm");
  private static final String RESIZED = "glyph-mlp";

  /**
   * Work of each job, which lasts ten minutes and more at the rate of the store, so that none ends
   * before the last change of size is over, and leaves the processors to what is tested until then.
   */
  private static final Map<String, Work> WORK =
      Map.of(
          "glyph-mlp", new Work(6_000, 200),
          "glyph-cnn", new Work(3_500, 100),
          "byte-lm", new Work(600, 8));

  /** Sizes that one job is given, one after the other. */
  private static final List<Integer> SIZES = List.of(1, 3, 2, 3, 1, 2);

  private static final Duration MEDIAN_RESCALE = Duration.ofSeconds(2);

  /** Rescales that a start of new replicas may take the time of, where that is longer. */
  private static final int STARTS = 5;

  private static final Duration LONG_RESCALE = Duration.ofSeconds(8);
  private static final Duration SOON = Duration.ofMinutes(6);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Chart chart =
      new Chart(SYSTEM, "roundInterval=5s", "summaryInterval=2s", "checkpoints.claim=checkpoints");
  private final SlowStore store = new SlowStore(client, TEAM);
  private final GpuWatch gpus = new GpuWatch(client);
  private final Measurements measured = new Measurements();

  @BeforeAll
  void makeNamespaces() {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "checkpoints");
  }

  @AfterAll
  void close() {
    gpus.close();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("the chart installs under the restricted Pod Security Standard")
  void installs() throws Exception {
    assertThat(chart.lint()).contains("0 chart(s) failed");
    assertThat(chart.install()).contains("STATUS: deployed").contains("kubectl");
    assertThat(client.pods().inNamespace(SYSTEM).list().getItems())
        .isNotEmpty()
        .allMatch(pod -> "Running".equals(pod.getStatus().getPhase()));
  }

  @Test
  @Order(2)
  @DisplayName("three jobs of the examples are placed on GPUs and train")
  void trains() throws Exception {
    store.make();
    for (String example : EXAMPLES) {
      submit(example);
    }
    for (String example : EXAMPLES) {
      until(example + " runs", SOON, () -> jobs.in(Phase.Running, example));
      long before = jobs.step(example);
      until(example + " makes progress", SOON, () -> jobs.step(example) > before);
      assertThat(jobs.running(example))
          .allMatch(pod -> gpus.of(pod.getSpec().getNodeName()) > 0, "is on a node with GPUs");
    }
  }

  @Test
  @Order(3)
  @DisplayName("an upgrade of the chart restarts no replica and changes no allocation")
  void upgradesWhileJobsTrain() throws Exception {
    for (String example : EXAMPLES) {
      // Held to their sizes, so that whatever changes is the upgrade's doing. The small ones leave
      // room for the job that changes its size later: then there is no reason to move it.
      int size = example.equals(RESIZED) ? jobs.allocated(example) : 1;
      jobs.pin(example, size);
      until(example + " has all its replicas", SOON, () -> jobs.running(example).size() == size);
    }
    List<Standing> before = EXAMPLES.stream().map(this::standing).toList();
    Set<String> operators = operators();

    assertThat(chart.upgrade("roundInterval=3s")).contains("STATUS: deployed");

    until(
        "new operators are at work",
        SOON,
        () -> !operators().isEmpty() && Collections.disjoint(operators(), operators));
    for (Standing was : before) {
      String job = was.job();
      until(job + " is heard of again", SOON, () -> jobs.step(job) > was.step());
      Standing is = standing(job);
      until(job + " trains on", SOON, () -> jobs.step(job) > is.step());
      assertThat(jobs.in(Phase.Running, job)).as("%s trains after the upgrade", job).isTrue();
      assertThat(is.replicas()).as("replicas of " + job).isEqualTo(was.replicas());
      assertThat(is.version()).as("allocation of " + job).isEqualTo(was.version());
      assertThat(is.restarts()).as("restarts of " + job).isEqualTo(was.restarts());
      Progress.say("%s: step %d before, %d after".formatted(job, was.step(), is.step()));
    }
  }

  /**
   * Where a job stands: uids of its replicas, version of its allocation, steps done, restarts. A
   * job that once made room for another by moving has one.
   */
  private record Standing(
      String job, Set<String> replicas, long version, long step, int restarts) {}

  private Standing standing(String job) {
    Integer restarts = jobs.status(job).orElseThrow().restarts();
    return new Standing(
        job, uids(job), jobs.version(job), jobs.step(job), restarts == null ? 0 : restarts);
  }

  @Test
  @Order(4)
  @DisplayName("a job grows and shrinks while the replicas that stay train on")
  void changesSizeLive() throws Exception {
    int moves = 0;
    for (int replicas : SIZES) {
      Set<String> before = uids(RESIZED);
      Set<String> nodesBefore = jobs.nodes(RESIZED);
      resize(replicas);
      Set<String> after = uids(RESIZED);
      Set<String> nodes = jobs.nodes(RESIZED);
      if (!nodes.containsAll(nodesBefore) && !nodesBefore.containsAll(nodes)) {
        moves++;
        Progress.say("the policy has moved it from %s to %s".formatted(nodesBefore, nodes));
      } else if (after.size() >= before.size()) {
        assertThat(after).as("who trained before still does").containsAll(before);
      } else {
        assertThat(before).as("nobody was started for the shrink").containsAll(after);
      }
    }
    assertThat(moves).as("changes of size that moved the job as well").isLessThanOrEqualTo(1);
    assertThat(jobs.status(RESIZED).orElseThrow().restarts()).isIn(null, 0);
  }

  @Test
  @Order(5)
  @DisplayName("all jobs succeed, no example lost or repeated, no GPU given twice")
  void succeeds() throws Exception {
    store.hurry();
    for (String example : EXAMPLES) {
      untilItSucceeds(example + " succeeds", example);
      TrainingStatus end = jobs.training(example).orElseThrow();
      InvariantViolation.unless(
          () -> assertThat(end.lostOrRepeatedExamples()).as("audit of " + example).isZero());
      assertThat(end.finalMetric()).isNotNull();
    }
    until("all GPUs are free", SOON, () -> gpus.taken() == 0);
    assertThat(gpus.most()).isNotEmpty();
    gpus.most()
        .forEach((node, most) ->
            InvariantViolation.unless(() ->
                assertThat(most.gpus())
                    .as("%s: %s", node, most)
                    .isLessThanOrEqualTo(gpus.of(node))));
  }

  @Test
  @Order(6)
  @DisplayName("uninstalling leaves the jobs and their definition, and nothing else")
  void uninstalls() throws Exception {
    assertThat(chart.uninstall()).contains("uninstalled");
    until("nothing of the release is left", SOON, () -> leftOfRelease().isEmpty());
    for (String example : EXAMPLES) {
      assertThat(jobs.in(Phase.Succeeded, example)).isTrue();
    }
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    store.remove();
    until("nothing of the jobs is left", SOON, () -> leftOfJobs().isEmpty());
  }

  @Test
  @Order(7)
  @DisplayName("the changes of size took little time")
  void wasQuick() {
    measured.summary();
    // On a machine that is slow, or busy with other tests, starts tell by how much.
    Duration starts = measured.of("rescale and start of new replicas").p95();
    assertThat(measured.of("rescale").p50())
        .isLessThanOrEqualTo(longer(starts.dividedBy(STARTS), MEDIAN_RESCALE));
    // With few changes, the 95th percentile is the longest, and one that other work of the machine
    // delays is no fault of the agents' as long as training goes on.
    assertThat(measured.of("pause of a rescale").p95())
        .isLessThanOrEqualTo(longer(starts, LONG_RESCALE));
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * Work of a job.
   *
   * @param examplesPerSecond what each replica is given, until all may have what they want
   */
  private record Work(int steps, int examplesPerSecond) {}

  private void submit(String example) throws IOException {
    Work work = Objects.requireNonNull(WORK.get(example));
    Path file = Chart.folder().resolve("../../examples").resolve(example + ".yaml");
    // Every replica is a JVM, and all of them share this one machine.
    String yaml =
        Files.readString(file)
            .replace("maxReplicas: 4", "maxReplicas: 2")
            .replaceFirst("steps: [0-9]+", "steps: " + work.steps());
    TrainingJob job =
        Serialization.unmarshal(store.feed(yaml, work.examplesPerSecond()), TrainingJob.class);
    client.resources(TrainingJob.class).inNamespace(TEAM).resource(job).create();
  }

  private void resize(int replicas) throws Exception {
    jobs.pin(RESIZED, replicas);
    until(
        "%s trains with %d replicas".formatted(RESIZED, replicas),
        SOON,
        () ->
            jobs.allocated(RESIZED) == replicas
                && jobs.running(RESIZED).size() == replicas
                && jobs.in(Phase.Running, RESIZED)
                && rescaled(replicas).isPresent());
    Change change = rescaled(replicas).orElseThrow();
    Instant decided = jobs.since(RESIZED);
    // How long a process takes to start is up to the machine; training goes on meanwhile.
    Instant possible = change.ready().isAfter(decided) ? change.ready() : decided;
    measured.add("rescale", RESIZED, Duration.between(possible, change.at()));
    measured.add(
        "rescale and start of new replicas", RESIZED, Duration.between(decided, change.at()));
    measured.add("pause of a rescale", RESIZED, change.pause());
    Progress.say(
        "%d -> %d replicas: %d ms from the decision, %d ms from when all had started, %d ms of pause"
            .formatted(
                change.before(),
                change.after(),
                Duration.between(decided, change.at()).toMillis(),
                Duration.between(possible, change.at()).toMillis(),
                change.pause().toMillis()));
    long step = jobs.step(RESIZED);
    until(RESIZED + " trains on", SOON, () -> jobs.step(RESIZED) > step);
  }

  /** How the replicas lived the newest decision; empty until they have. */
  private Optional<Change> rescaled(int replicas) throws IOException {
    Instant since = jobs.since(RESIZED);
    return Change.of(TEAM, RESIZED).stream()
        .filter(change -> change.at().isAfter(since) && change.after() == replicas)
        .findFirst();
  }

  private Set<String> uids(String job) {
    return jobs.running(job).stream()
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  private Set<String> operators() {
    return client.pods().inNamespace(SYSTEM).list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  /** Whatever the chart or the operator made for itself, by kind and name. */
  private List<String> leftOfRelease() {
    List<HasMetadata> left = new ArrayList<>();
    left.addAll(client.pods().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.secrets().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.services().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.leases().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.configMaps().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.serviceAccounts().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.apps().deployments().inNamespace(SYSTEM).list().getItems());
    left.addAll(client.rbac().roles().inNamespace(SYSTEM).list().getItems());
    left.addAll(
        client
            .rbac()
            .clusterRoles()
            .withLabel("app.kubernetes.io/name", "kastor")
            .list()
            .getItems());
    left.addAll(
        client
            .rbac()
            .clusterRoleBindings()
            .withLabel("app.kubernetes.io/name", "kastor")
            .list()
            .getItems());
    return foreign(left);
  }

  private List<String> leftOfJobs() {
    List<HasMetadata> left = new ArrayList<>();
    left.addAll(client.pods().inNamespace(TEAM).list().getItems());
    left.addAll(client.secrets().inNamespace(TEAM).list().getItems());
    left.addAll(client.configMaps().inNamespace(TEAM).list().getItems());
    return foreign(left);
  }

  /** Every namespace has a service account and the cluster's certificate. */
  private static List<String> foreign(List<HasMetadata> objects) {
    return objects.stream()
        .map(object -> object.getKind() + "/" + object.getMetadata().getName())
        .filter(name -> !name.equals("ConfigMap/kube-root-ca.crt"))
        .filter(name -> !name.equals("ServiceAccount/default"))
        .toList();
  }

  private void untilItSucceeds(String what, String job) throws Exception {
    Await.whileItMoves(
        what, SOON, jobs::describe, () -> jobs.step(job), () -> jobs.in(Phase.Succeeded, job));
  }

  private void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
    Await.until(what, limit, jobs::describe, condition);
  }
}
