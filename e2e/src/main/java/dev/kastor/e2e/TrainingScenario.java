package dev.kastor.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus.Phase;
import dev.kastor.crds.TrainingJobStatus.TrainingStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
 * A platform team installs Kastor, three jobs of the examples train in real pods, one of them grows
 * and shrinks while it does, all of them end well, and Kastor is removed again.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(StopAtFailure.class)
final class TrainingScenario {
  private static final String SYSTEM = "kastor-system";
  private static final String TEAM = "team";
  private static final List<String> EXAMPLES = List.of("glyph-mlp", "glyph-cnn", "byte-lm");
  private static final String RESIZED = "glyph-mlp";
  private static final int GPUS = 8;
  private static final Duration SOON = Duration.ofMinutes(6);
  private static final Duration LONG = Duration.ofMinutes(15);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Chart chart =
      new Chart(SYSTEM, "roundInterval=5s", "summaryInterval=2s", "checkpoints.claim=checkpoints");
  private final GpuWatch gpus = new GpuWatch(client);

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
    for (String example : EXAMPLES) {
      submit(example);
    }
    for (String example : EXAMPLES) {
      until(example + " runs", SOON, () -> jobs.in(Phase.Running, example));
      long before = jobs.step(example);
      until(example + " makes progress", SOON, () -> jobs.step(example) > before);
      assertThat(jobs.running(example))
          .allMatch(pod -> "alpha".equals(pod.getSpec().getNodeName()));
    }
  }

  @Test
  @Order(3)
  @DisplayName("a job grows and shrinks while the replicas that stay train on")
  void changesSizeLive() throws Exception {
    resize(1);
    Set<String> one = uids();
    TrainingStatus small = jobs.training(RESIZED).orElseThrow();

    resize(3);
    assertThat(uids()).as("who trained before still does").containsAll(one);
    until("the growth is reported", SOON, () -> grows() > small.grows());
    Set<String> three = uids();
    int shrinks = jobs.training(RESIZED).orElseThrow().shrinks();

    resize(2);
    assertThat(three).as("nobody was started for the shrink").containsAll(uids());
    until(
        "the shrink is reported",
        SOON,
        () -> jobs.training(RESIZED).orElseThrow().shrinks() > shrinks);
    assertThat(jobs.status(RESIZED).orElseThrow().restarts()).isIn(null, 0);
    Progress.say(
        "pauses of training: median %d ms, longest %d ms"
            .formatted(
                jobs.training(RESIZED).orElseThrow().medianPauseMillis(),
                jobs.training(RESIZED).orElseThrow().maxPauseMillis()));
  }

  @Test
  @Order(4)
  @DisplayName("all jobs succeed, no example lost or repeated, no GPU given twice")
  void succeeds() throws Exception {
    for (String example : EXAMPLES) {
      until(example + " succeeds", LONG, () -> jobs.in(Phase.Succeeded, example));
      TrainingStatus end = jobs.training(example).orElseThrow();
      assertThat(end.lostOrRepeatedExamples()).as("audit of " + example).isZero();
      assertThat(end.finalMetric()).isNotNull();
    }
    until("all GPUs are free", SOON, () -> gpus.taken() == 0);
    assertThat(gpus.most())
        .hasEntrySatisfying("alpha", most -> assertThat(most).isBetween(3, GPUS));
  }

  @Test
  @Order(5)
  @DisplayName("uninstalling leaves the jobs and their definition, and nothing else")
  void uninstalls() throws Exception {
    assertThat(chart.uninstall()).contains("uninstalled");
    until("nothing of the release is left", SOON, () -> leftOfRelease().isEmpty());
    for (String example : EXAMPLES) {
      assertThat(jobs.in(Phase.Succeeded, example)).isTrue();
    }
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    until("nothing of the jobs is left", SOON, () -> leftOfJobs().isEmpty());
  }

  private void submit(String example) throws IOException {
    Path file = Chart.folder().resolve("../../examples").resolve(example + ".yaml");
    // Every replica is a JVM, and all of them share this one machine.
    String yaml = Files.readString(file).replace("maxReplicas: 4", "maxReplicas: 2");
    TrainingJob job = Serialization.unmarshal(yaml, TrainingJob.class);
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
                && jobs.in(Phase.Running, RESIZED));
    long step = jobs.step(RESIZED);
    until(RESIZED + " trains on", SOON, () -> jobs.step(RESIZED) > step);
  }

  private Set<String> uids() {
    return jobs.running(RESIZED).stream()
        .map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
  }

  private int grows() {
    return jobs.training(RESIZED).orElseThrow().grows();
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

  private void until(String what, Duration limit, Callable<Boolean> condition) throws Exception {
    Await.until(what, limit, jobs::describe, condition);
  }
}
