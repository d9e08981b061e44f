package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.cli.terminal.ControlSequence;
import dev.kastor.cli.terminal.LogStream;
import dev.kastor.cli.terminal.TerminalOutput;
import dev.kastor.local.api.Json;
import dev.kastor.local.api.Options;
import dev.kastor.local.api.ResourceType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Text of tenants in messages, and the terminal of the person who reads them. */
@Tag("slow")
@Tag("never-retried")
final class HostileTextTest {
  private static final String FORGED = "kastor: all is well";

  /** A new title, a cleared screen (in both spellings), a forged line and text turned round. */
  private static final String HOSTILE =
      "CUDA error\033]0;PWNED\007\033[2J\u009B2J\r\n" + FORGED + "\r\n\u202Egpj.exe\u2066\u2028x";

  @TempDir private Path folder = Path.of("");
  private Terminal terminal;

  @BeforeEach
  void submit() throws IOException {
    terminal = new Terminal(folder);
    Path job = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    assertThat(terminal.run("submit", "-f", job.toString()).code()).isZero();
    ObjectNode status = Json.object().put("phase", "Failed");
    String now = Instant.now().toString();
    status
        .putObject("allocation")
        .put("reason", "Waiting")
        .put("message", HOSTILE)
        .put("replicas", 0)
        .put("since", now)
        .putObject("nodes");
    status
        .putArray("conditions")
        .addObject()
        .put("type", "Failed")
        .put("status", "True")
        .put("reason", "ReplicaFailed")
        .put("message", HOSTILE)
        .put("lastTransitionTime", now);
    // JSON can carry what YAML cannot.
    ObjectNode body = Json.object();
    body.set("status", status);
    terminal
        .server
        .resources()
        .update(
            new ResourceType("kastor.dev", "v1alpha1", "TrainingJob", "trainingjobs", true, true),
            "default",
            "digits",
            body,
            Options.STATUS);
    ObjectNode event =
        Json.object()
            .put("apiVersion", "v1")
            .put("kind", "Event")
            .put("type", "Warning")
            .put("reason", "BackOff")
            .put("message", HOSTILE)
            .put("lastTimestamp", now);
    event.putObject("metadata").put("name", "digits.1");
    event
        .putObject("involvedObject")
        .put("kind", "TrainingJob")
        .put("namespace", "default")
        .put("name", "digits");
    terminal
        .server
        .resources()
        .create(
            new ResourceType("", "v1", "Event", "events", true, false),
            "default",
            event,
            Options.PLAIN);
  }

  @AfterEach
  void stop() {
    terminal.close();
  }

  @Test
  void noCommandPrintsWhatATerminalActsOn() throws IOException {
    for (List<String> command :
        List.of(
            List.of("describe", "digits"),
            List.of("why", "digits"),
            List.of("events", "digits"),
            List.of("events", "digits", "-o", "wide"),
            List.of("history"),
            List.of("history", "digits"),
            List.of("history", "-o", "wide"),
            List.of("ls"),
            List.of("ls", "-o", "wide"),
            List.of("get", "digits", "-o", "yaml"),
            List.of("get", "digits", "-o", "json"))) {
      Terminal.Result result =
          terminal.run(
              command.getFirst(), command.subList(1, command.size()).toArray(String[]::new));

      assertThat(result.out()).as(command.toString()).contains("digits");
      assertThat(result.out() + result.err())
          .as(command.toString())
          .doesNotContainPattern("[\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F\u2028\u202E\u2066]");
      assertThat(result.out().lines().map(String::strip))
          .as(command.toString())
          .noneMatch(line -> line.startsWith(FORGED));
    }
    assertThat(terminal.run("describe", "digits").out()).contains("CUDA error\uFFFD]0;PWNED");
  }

  @Test
  void documentsKeepTheText() throws IOException {
    String json = terminal.run("get", "digits", "-o", "json").out();

    assertThat(new ObjectMapper().readTree(json).findValuesAsText("message")).contains(HOSTILE);
  }

  @Test
  void ownSequencesArePrintedAndNoOthers() {
    StringWriter text = new StringWriter();
    TerminalOutput out = new TerminalOutput(text);

    out.println(ControlSequence.of("2J") + "a\033[2Jb\ttab");
    out.print("more\r\n");
    out.flush();

    assertThat(text.toString()).isEqualTo("\033[2Ja\uFFFD[2Jb\ttab\nmore \n");
  }

  @Test
  void aLogIsPassedToProgramsAsItIs() {
    StringWriter text = new StringWriter();
    TerminalOutput out = new TerminalOutput(text);
    out.print("first ");

    out.raw().println("\033[31mred");

    assertThat(text.toString()).isEqualTo("first \033[31mred\n");
  }

  @Test
  void aLoggerAndItsStackTracesPrintEntries() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    LogStream log = new LogStream(new PrintStream(bytes, true, StandardCharsets.UTF_8));

    log.println("INFO one\nINFO forged");
    new IllegalStateException("two\nINFO forged").printStackTrace(log);

    assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
        .hasSizeGreaterThan(4)
        .filteredOn(line -> !line.startsWith("\t"))
        .containsExactly("INFO one", "java.lang.IllegalStateException: two");
  }
}
