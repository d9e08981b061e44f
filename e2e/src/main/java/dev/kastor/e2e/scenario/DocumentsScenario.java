package dev.kastor.e2e.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.e2e.cluster.CommandBlocks;
import dev.kastor.e2e.cluster.Jobs;
import dev.kastor.e2e.cluster.Namespaces;
import dev.kastor.e2e.cluster.Shell;
import dev.kastor.e2e.suite.Await;
import dev.kastor.e2e.suite.Progress;
import dev.kastor.e2e.suite.StopAtFailure;
import dev.kastor.e2e.suite.Tidy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody types what {@code docs/install.md} and {@code docs/tutorial.md} tell to: every block of
 * them that is marked {@code sh}, in the order in which it stands there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Order(13)
@Tag("nightly")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith({StopAtFailure.class, Tidy.class})
final class DocumentsScenario {
  private static final String SYSTEM = "kastor-system";
  private static final String TEAM = "team";
  private static final String JOB = "digits";
  private static final Duration SOON = Duration.ofMinutes(4);

  private final KubernetesClient client = new KubernetesClientBuilder().build();
  private final Jobs jobs = new Jobs(client, TEAM);

  private Path folder = Path.of(".");

  @BeforeAll
  void settle(@TempDir Path fresh) throws IOException {
    folder = fresh;
    Files.createSymbolicLink(folder.resolve("helm"), Shell.ROOT.resolve("helm"));
    client.namespaces().withName(SYSTEM).delete();
    if (client.namespaces().withName(TEAM).get() == null) {
      Namespaces namespaces = new Namespaces(client);
      namespaces.restricted(TEAM);
      namespaces.shared(TEAM, "checkpoints");
    }
  }

  @AfterAll
  void close() {
    client.close();
  }

  @Test
  @Order(1)
  @DisplayName("install.md installs, renews and upgrades")
  void installs() throws Exception {
    Await.until(
        "there is no namespace " + SYSTEM,
        SOON,
        () -> "it is still there",
        () -> client.namespaces().withName(SYSTEM).get() == null);
    String text = CommandBlocks.document("install.md");
    run(text.substring(0, text.indexOf("## Uninstall")), 4);
  }

  @Test
  @Order(2)
  @DisplayName("tutorial.md trains, asks, changes and removes a job")
  void trains() throws Exception {
    String text = CommandBlocks.document("tutorial.md");
    int rest = text.indexOf("## Watch");
    run(text.substring(0, rest), 1);
    Await.until(
        "the job of the tutorial trains",
        SOON,
        jobs::describe,
        () -> jobs.in(Phase.Running, JOB) && jobs.step(JOB) > 0);
    run(text.substring(rest), 4);
  }

  @Test
  @Order(3)
  @DisplayName("install.md uninstalls, definitions included")
  void uninstalls() throws Exception {
    String text = CommandBlocks.document("install.md");
    // Of the two ways, the one that leaves nothing: what follows the first block.
    String both = text.substring(text.indexOf("## Uninstall"));
    run(both.substring(both.indexOf("\n\n```sh")), 1);
    assertThat(Shell.run("kubectl", "get", "crd", "-o", "name").good())
        .doesNotContain("kastor.dev");
    assertThat(client.namespaces().withName(SYSTEM).get()).isNull();
  }

  /** Runs all blocks of a text, of which there must be so many at least. */
  private void run(String text, int atLeast) throws IOException, InterruptedException {
    List<String> ran = CommandBlocks.run(text, folder);
    ran.forEach(line -> Progress.say("ran: " + line));
    assertThat(ran).hasSizeGreaterThanOrEqualTo(atLeast);
  }
}
