package dev.kastor.cli.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ScalingTest {
  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void start() throws IOException {
    terminal = new Terminal(folder);
    Path file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    assertThat(terminal.run("submit", "-f", file.toString()).code()).isZero();
  }

  @AfterEach
  void stop() {
    terminal.close();
  }

  @Tag("slow")
  @Test
  void changesTheBounds() {
    assertThat(terminal.run("scale", "digits", "--max", "8").out())
        .startsWith("digits may have 1 to 8 replicas (before: 1 to 4)");
    assertThat(terminal.run("scale", "digits", "--replicas", "2").out())
        .startsWith("digits may have 2 to 2 replicas (before: 1 to 8)");
  }

  @Tag("slow")
  @Test
  void saysWhatTheRulesRefuse() {
    Terminal.Result crossed = terminal.run("scale", "digits", "--min", "5");
    assertThat(crossed.code()).isEqualTo(ExitCode.USAGE);
    assertThat(crossed.err())
        .contains("spec.elastic: ")
        .contains("minReplicas (5) is above maxReplicas (4)");
    Terminal.Result huge = terminal.run("scale", "digits", "--max", "5000");
    assertThat(huge.code()).isEqualTo(ExitCode.USAGE);
    assertThat(huge.err()).contains("spec.elastic.maxReplicas").contains("4096");
    assertThat(terminal.run("ls").out()).contains("0/1-4");
  }

  @Tag("slow")
  @Test
  void saysHowItIsCalled() {
    assertThat(terminal.run("scale", "digits").err()).contains("say how");
    assertThat(terminal.run("scale", "digits", "--replicas", "2", "--min", "1").code())
        .isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("scale", "none", "--max", "2").code()).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(terminal.run("pin", "digits").code()).isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("pin", "digits", "--here", "--at", "2").code())
        .isEqualTo(ExitCode.USAGE);
  }

  @Tag("slow")
  @Test
  void pinsAndUnpins() {
    assertThat(terminal.run("pin", "digits", "--here").out())
        .contains("keeps the first replicas and nodes that it gets");
    assertThat(terminal.run("describe", "digits").out())
        .contains("Pinned:       to the replicas and nodes that it has");
    assertThat(terminal.run("pin", "digits", "--at", "3").out()).contains("with 3 replicas");
    assertThat(terminal.run("get", "digits").out()).contains("kastor.dev/pinned: \"3\"");
    assertThat(terminal.run("scale", "digits", "--max", "8").out()).contains("it is pinned (3)");
    Terminal.Result outside = terminal.run("pin", "digits", "--at", "9");
    assertThat(outside.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outside.err()).contains("kastor scale digits --max 9");
    assertThat(terminal.run("pin", "digits", "--unpin").out()).contains("decides on digits again");
    assertThat(terminal.run("get", "digits").out()).doesNotContain("kastor.dev/pinned");
    assertThat(terminal.run("pin", "digits", "--unpin").out()).contains("was not pinned");
  }

  @Tag("slow")
  @Test
  void changesNothingOfAJobThatEnded() throws IOException {
    terminal.status("digits", "phase: Succeeded");
    assertThat(terminal.run("scale", "digits", "--max", "2").err()).contains("cannot be scaled");
    assertThat(terminal.run("pin", "digits", "--here").code()).isEqualTo(ExitCode.FAILED);
  }
}
