package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.SharesChart;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
 * The bad TrainingJobs of {@code crds/src/test/resources/bad} against a real API server, which
 * refuses them with the name of the field; what it cannot know is wrong gets a condition.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(8)
@SharesChart
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class BadInputScenario {
  private static final String TEAM = "bad-input";
  private static final Path FOLDER = Shell.ROOT.resolve("crds/src/test/resources");

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);

  @BeforeAll
  void makeNamespaces() {
    Namespaces namespaces = new Namespaces(client);
    namespaces.restricted(TEAM);
  }

  @AfterAll
  void close() {
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("the API server refuses what is wrong and names the field")
  void refusesByField() throws Exception {
    assertThat(create(FOLDER.resolve("good.yaml")).status()).isZero();
    List<String> wrong = new ArrayList<>();
    for (Path file : files("schema", "reader")) {
      Shell.Result result = create(file);
      String said = result.out() + result.err();
      String field = expected(file).replaceAll(".*\\.", "");
      boolean named = by(file).equals("reader") || said.contains(field);
      if (result.status() == 0 || !named) {
        wrong.add("%s: %d %s".formatted(file.getFileName(), result.status(), said));
      }
    }
    assertThat(wrong).isEmpty();
    Progress.say("%d bad TrainingJobs were refused".formatted(files("schema", "reader").size()));
  }

  @Test
  @Order(2)
  @DisplayName("what is fixed cannot be changed later")
  void refusesChanges() throws Exception {
    Shell.run("kubectl", "create", "-n", TEAM, "-f", FOLDER.resolve("good.yaml").toString()).good();
    for (Path file : files("change")) {
      Shell.Result result =
          Shell.run(
              "kubectl",
              "apply",
              "--server-side",
              "--force-conflicts",
              "--dry-run=server",
              "-n",
              TEAM,
              "-f",
              file.toString());
      assertThat(result.status()).as(file.toString()).isNotZero();
      assertThat(result.err()).contains(expected(file)).contains("cannot change");
    }
    Shell.Result exchanged =
        Shell.run(
            "kubectl",
            "patch",
            "trainingjob",
            "bad",
            "-n",
            TEAM,
            "--type=merge",
            "--dry-run=server",
            "-p",
            "{\"spec\": {\"training\": {\"passes\": null, \"gradients\": [\"ClipByNorm\"]}}}");
    assertThat(exchanged.err()).contains("training cannot change");
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
  }

  @Test
  @Order(3)
  @DisplayName("what only the operator can know is wrong gets a condition and no pod")
  void setsACondition() throws Exception {
    List<String> wrong = new ArrayList<>();
    for (Path file : files("operator")) {
      Shell.run("kubectl", "create", "-n", TEAM, "-f", file.toString()).good();
      String name = read(file).getMetadata().getName();
      wrong.add(name);
      Await.until(
          "a condition says what is wrong",
          Duration.ofMinutes(1),
          jobs::describe,
          () -> jobs.in(Phase.Failed, name));
      assertThat(jobs.status(name).orElseThrow().conditions())
          .anySatisfy(condition -> {
            assertThat(condition.getReason()).isEqualTo("InvalidSpec");
            assertThat(condition.getMessage()).contains(expected(file));
          });
    }
    // The pods of the job before may still be on their way out.
    assertThat(client.pods().inNamespace(TEAM).list().getItems())
        .noneMatch(pod ->
            pod.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> wrong.contains(owner.getName())));
    client.resources(TrainingJob.class).inNamespace(TEAM).delete();
  }

  private static TrainingJob read(Path file) throws IOException {
    return Serialization.unmarshal(Files.readString(file), TrainingJob.class);
  }

  private static Shell.Result create(Path file) throws Exception {
    return Shell.run(
        "kubectl",
        "create",
        "--dry-run=server",
        "--validate=strict",
        "-n",
        TEAM,
        "-f",
        file.toString());
  }

  private static List<Path> files(String... refusedBy) throws IOException {
    List<Path> chosen = new ArrayList<>();
    try (Stream<Path> all = Files.list(FOLDER.resolve("bad"))) {
      for (Path file : all.sorted().toList()) {
        if (List.of(refusedBy).contains(by(file))) {
          chosen.add(file);
        }
      }
    }
    assertThat(chosen).isNotEmpty();
    return chosen;
  }

  private static String expected(Path file) throws IOException {
    return line(file, 0).substring("# expect: ".length());
  }

  private static String by(Path file) throws IOException {
    String second = line(file, 1);
    return second.startsWith("# by: ") ? second.substring("# by: ".length()) : "schema";
  }

  private static String line(Path file, int number) throws IOException {
    // One of the files is no text.
    return Files.readAllLines(file, StandardCharsets.ISO_8859_1).get(number);
  }
}
