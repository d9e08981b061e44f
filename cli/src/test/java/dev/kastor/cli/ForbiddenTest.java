package dev.kastor.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.local.Kubeconfig;
import dev.kastor.local.api.Tokens.PodIdentity;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What somebody sees whom the API server refuses. */
@Tag("never-retried")
final class ForbiddenTest {
  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("ls"),
          List.of("events"),
          List.of("events", "digits"),
          List.of("why", "digits"),
          List.of("history"),
          List.of("metrics", "digits"),
          List.of("queue"),
          List.of("scale", "digits", "--max", "2"),
          List.of("pin", "digits", "--here"));

  @TempDir Path folder;

  @Tag("slow")
  @Test
  void everyCommandSaysSoInALine() throws IOException {
    try (Terminal terminal = new Terminal(folder)) {
      String token =
          terminal.server.tokens().issue(new PodIdentity("default", "default", "p", "u", "x"));
      Path kubeconfig =
          Files.writeString(
              folder.resolve("poor"),
              Kubeconfig.of(
                  terminal.server.uri(), new byte[0], token, URI.create("http://127.0.0.1:9/")));
      for (List<String> command : COMMANDS) {
        List<String> arguments = new ArrayList<>(command);
        arguments.addAll(List.of("--kubeconfig", kubeconfig.toString()));
        Terminal.Result result = Terminal.runPlain(arguments.toArray(String[]::new));
        assertThat(result.code()).as(command.toString()).isEqualTo(ExitCode.FAILED);
        assertThat(result.err()).as(command.toString()).contains("does not allow this");
        assertThat(result.err()).doesNotContain("\tat ").doesNotContain(token);
      }
      Terminal.Result doctor = Terminal.runPlain("doctor", "--kubeconfig", kubeconfig.toString());
      assertThat(doctor.code()).isEqualTo(ExitCode.FAILED);
      assertThat(doctor.out()).containsPattern("fail +api-server");
    }
  }
}
