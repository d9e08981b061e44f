package dev.kastor.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.Kastor;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.view.EventView;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class EventsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T01:00:00Z");

  @TempDir Path folder;
  private Terminal terminal;
  private KubernetesClient client;

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(folder);
    client =
        new KubernetesClientBuilder()
            .withConfig(Config.fromKubeconfig(Files.readString(folder.resolve("kubeconfig"))))
            .build();
    Path file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    assertThat(terminal.run("submit", "-f", file.toString()).code()).isZero();
  }

  @AfterEach
  void stop() {
    client.close();
    terminal.close();
  }

  private void event(String namespace, String kind, String name, String reason, int minute) {
    event(namespace, kind, name, reason, "2026-01-01T00:%02d:00Z".formatted(minute));
  }

  private void event(String namespace, String kind, String name, String reason, String time) {
    client
        .v1()
        .events()
        .inNamespace(namespace)
        .resource(
            new EventBuilder()
                .withNewMetadata()
                .withName(name + "." + reason.toLowerCase(java.util.Locale.ROOT))
                .endMetadata()
                .withNewInvolvedObject()
                .withKind(kind)
                .withName(name)
                .endInvolvedObject()
                .withType(reason.equals("BackOff") ? "Warning" : "Normal")
                .withReason(reason)
                .withMessage("what " + reason + " means: für mich, 日本, 😀")
                .withLastTimestamp(time)
                .build())
        .create();
  }

  private void someEvents() {
    event("default", "Pod", "digits-0", "BackOff", 20);
    event("default", "TrainingJob", "digits", "Started", 10);
    event("default", "TrainingJob", "other", "Grown", 30);
    event("default", "Pod", "digits-of-someone-0", "Pulled", 5);
    event("default", "Pod", "webserver", "Killing", 15);
    event("kastor-system", "Pod", "k-kastor-77-x", "Unhealthy", 40);
    event("kastor-system", "Pod", "neighbour", "Unhealthy", 41);
  }

  private List<String> reasons(String... arguments) throws IOException {
    JsonNode answer = new ObjectMapper().readTree(terminal.run("events", arguments).out());
    return answer.at("/events").findValuesAsText("reason");
  }

  @Tag("slow")
  @Test
  void aJobsEventsAreItsOwnAndItsPods() throws IOException {
    someEvents();
    assertThat(reasons("digits", "-o", "json")).containsExactly("Started", "BackOff");
  }

  @Tag("slow")
  @Test
  void withoutAJobTheOperatorsComeToo() throws IOException {
    someEvents();
    assertThat(reasons("-o", "json")).containsExactly("Pulled", "Started", "BackOff", "Grown");
    client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("k-kastor-77-x")
                .withNamespace("kastor-system")
                .addToLabels("app.kubernetes.io/name", "kastor")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build())
        .create();
    assertThat(reasons("-o", "json"))
        .containsExactly("Pulled", "Started", "BackOff", "Grown", "Unhealthy");
  }

  @Tag("slow")
  @Test
  void anEventFromBeforeAJobIsOfAnEarlierOneOfItsName() {
    someEvents();
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    event("default", "TrainingJob", "digits", "Shrunk", now);
    for (String command : List.of("describe", "history")) {
      assertThat(terminal.run(command, "digits").out())
          .contains("what Shrunk means")
          .doesNotContain("what Started means", "what BackOff means");
    }
  }

  @Tag("slow")
  @Test
  void aTableFitsTheTerminal() {
    var long1 =
        new EventView(
            "2026-01-01T00:59:00Z",
            "Normal",
            "Grown",
            "More GPUs save more time than they cost others. Next in line for them: default/bert.",
            "default",
            "TrainingJob",
            "digits",
            "kastor",
            1);
    var long2 =
        new EventView(
            "2026-01-01T00:59:30Z",
            "Warning",
            "BackOff",
            "Back-off pulling image",
            "default",
            "Pod",
            "digits-0",
            "kubelet",
            3);
    assertThat(Events.table(List.of(long1, long2), false, NOW, 80))
        .containsExactly(
            "AGE  OBJECT        REASON   MESSAGE",
            "60s  digits        Grown    More GPUs save more time than they cost others. Next",
            "                            in line for them: default/bert.",
            "30s  Pod/digits-0  BackOff  Back-off pulling image (3 times)");
  }

  @Tag("slow")
  @Test
  void watchGoesOnWithNewOnes() throws Exception {
    event("default", "TrainingJob", "digits", "Started", 10);
    StringWriter out = new StringWriter();
    CommandLine line = Kastor.commandLine();
    line.setOut(new PrintWriter(out));
    Thread watching =
        Thread.ofVirtual()
            .start(() ->
                line.execute(
                    "events",
                    "--kubeconfig",
                    folder.resolve("kubeconfig").toString(),
                    "digits",
                    "--watch",
                    "-o",
                    "json"));
    await(out, "Started");
    event("default", "TrainingJob", "other", "Moved", 11);
    event("default", "TrainingJob", "digits", "Grown", 12);
    await(out, "Grown");
    watching.interrupt();
    assertThat(watching.join(Duration.ofMinutes(10))).isTrue();
    assertThat(out.toString().lines().map(EventsTest::reason)).containsExactly("Started", "Grown");
    assertThat(out.toString()).contains("what Grown means: für mich, 日本, 😀");
  }

  private static String reason(String line) {
    try {
      return new ObjectMapper().readTree(line).path("reason").asText();
    } catch (IOException e) {
      return line;
    }
  }

  private static void await(StringWriter out, String text) throws InterruptedException {
    long end = System.nanoTime() + Duration.ofMinutes(10).toNanos();
    while (!out.toString().contains(text)) {
      assertThat(System.nanoTime()).as(out.toString()).isLessThan(end);
      Thread.sleep(Duration.ofMillis(20));
    }
  }

  @Tag("slow")
  @Test
  void refusesWhatDoesNotGoTogether() {
    assertThat(terminal.run("events", "digits", "-A").code()).isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("events", "none").code()).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(terminal.run("events", "--context", "nowhere").err())
        .contains("there is no context nowhere; the kubeconfig has kastor-local");
  }
}
