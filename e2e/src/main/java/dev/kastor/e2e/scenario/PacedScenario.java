package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.profile.ClusterTrainingProfile;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Chart;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.PacedProfile;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.InvariantViolation;
import dev.kastor.e2e.suite.Measurements;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
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

/**
 * Ten jobs arrive at eight paced slots, under {@code fifo} and then under {@code kastor}: what
 * {@code bench/testbed} shows of local processes, in pods.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(15)
@Tag("nightly")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class PacedScenario {
  private static final String SYSTEM = "paced-system";
  private static final String TEAM = "paced-team";
  private static final List<String> PROGRAMS = List.of("glyph-cnn", "glyph-mlp", "byte-lm");

  /** Jobs of 40 to 230 s alone on a slot, in the order in which they arrive. */
  private static final List<Work> WORK =
      List.of(
          new Work("glyph-cnn", 340),
          new Work("byte-lm", 240),
          new Work("glyph-mlp", 680),
          new Work("glyph-cnn", 1240),
          new Work("byte-lm", 95),
          new Work("glyph-mlp", 270),
          new Work("glyph-cnn", 228),
          new Work("glyph-mlp", 1550),
          new Work("glyph-cnn", 570),
          new Work("byte-lm", 155));

  private static final double MEAN_GAP_SECONDS = 8;
  private static final Duration SOON = Duration.ofMinutes(6);

  /** Beside other work slots do not keep their pace: what takes the longer is then by chance. */
  private static final double BUSY = 1.2;

  private record Work(String program, int steps) {}

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);
  private final Measurements measured = new Measurements();
  private final Chart chart =
      new Chart(
          SYSTEM,
          "policy.name=fifo",
          "replicas=1",
          "roundInterval=5s",
          "summaryInterval=2s",
          "checkpoints.claim=checkpoints");
  private double fifoSeconds;

  @BeforeAll
  void install() throws Exception {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(SYSTEM);
    namespaces.restricted(TEAM);
    namespaces.shared(TEAM, "checkpoints");
    chart.install();
    for (String program : PROGRAMS) {
      PacedProfile.make(client, program, TEAM);
    }
  }

  @AfterAll
  void remove() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    client.resources(ClusterTrainingProfile.class).delete();
    chart.uninstall();
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("all jobs succeed under fifo")
  void underFifo() throws Exception {
    fifoSeconds = train("fifo");
  }

  @Test
  @Order(2)
  @DisplayName("all jobs succeed under kastor, and no later in the mean")
  void underKastor() throws Exception {
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
    until("no pod of the jobs before is left", () -> jobs.pods().isEmpty());
    chart.upgrade("policy.name=kastor");
    assertThat(train("kastor")).as("mean seconds of a job").isLessThan(BUSY * fifoSeconds);
  }

  /** Lets all jobs arrive and end; mean seconds from arrival to end. */
  private double train(String policy) throws Exception {
    Random draw = new Random(1);
    for (int j = 0; j < WORK.size(); j++) {
      submit(name(j), WORK.get(j));
      Thread.sleep((long) (-MEAN_GAP_SECONDS * 1000 * Math.log(1 - draw.nextDouble())));
    }
    double sum = 0;
    for (int j = 0; j < WORK.size(); j++) {
      String name = name(j);
      Await.whileItMoves(
          name + " succeeds",
          SOON,
          jobs::describe,
          () -> jobs.step(name),
          () -> jobs.in(Phase.Succeeded, name));
      InvariantViolation.unless(() ->
          assertThat(jobs.training(name).orElseThrow().lostOrRepeatedExamples())
              .as("audit of " + name)
              .isZero());
      Duration took = took(jobs.get(name));
      measured.add("completion under " + policy, name, took);
      sum += took.toMillis() * 1e-3;
    }
    double mean = sum / WORK.size();
    Progress.say("mean completion under %s: %.0f s".formatted(policy, mean));
    return mean;
  }

  private static Duration took(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    return Duration.between(
        Instant.parse(job.getMetadata().getCreationTimestamp()),
        Instant.parse(status.completionTime()));
  }

  private static String name(int index) {
    return "%s-%d".formatted(WORK.get(index).program(), index);
  }

  private void submit(String name, Work work) throws Exception {
    String program = work.program();
    String yaml =
        Files.readString(Chart.root().resolve("examples/%s.yaml".formatted(program)))
            .replaceFirst("name: " + program + "\nspec:", "name: " + name + "\nspec:")
            .replaceFirst("spec:\n", "spec:\n  profile: paced-" + program + "\n")
            .replaceFirst("steps: [0-9]+", "steps: " + work.steps());
    client
        .resources(TrainingJob.class)
        .inNamespace(TEAM)
        .resource(Serialization.unmarshal(yaml, TrainingJob.class))
        .create();
  }

  private void until(String what, Callable<Boolean> condition) throws Exception {
    Await.until(what, SOON, jobs::describe, condition);
  }
}
