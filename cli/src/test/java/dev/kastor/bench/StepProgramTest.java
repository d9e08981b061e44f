package dev.kastor.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.local.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that measure nothing but speak as those do that measure. */
final class StepProgramTest {
  private static final String READY =
      "echo '{\"device\": \"cpu\", \"library\": \"Fake 1.0\", \"parameters\": 5, \"loss\": 2.5}'\n";

  @TempDir private Path folder;

  private static StepProgram start(String script) throws BenchException {
    return StepProgram.start("The fake", List.of("sh", "-c", script), Map.of("KASTOR_FAKE", "8"));
  }

  @Test
  void answersEachLineUntilItIsClosed() throws BenchException {
    String answer =
        "{\"steps\": '$KASTOR_FAKE', \"seconds\": 2, \"cpuSeconds\": 1.6, \"peakBytes\": 4096}";
    String script = READY + "while read -r line; do echo '" + answer + "'; done";
    try (StepProgram program = start(script)) {
      assertThat(program.started().library()).isEqualTo("Fake 1.0");
      assertThat(program.started().device()).isEqualTo("cpu");
      assertThat(program.started().parameters()).isEqualTo(5);
      assertThat(program.started().firstStepSeconds()).isPositive();
      Contender.Window window = program.measure(0.5);
      assertThat(window.stepsPerSecond()).isCloseTo(4, within(1e-9));
      assertThat(window.cpuMillisPerStep()).isCloseTo(200, within(1e-9));
      assertThat(program.measure(0.5)).isEqualTo(window);
    }
  }

  @Test
  void saysWhatAProgramSaidThatEndsTooSoon() throws BenchException {
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> start("echo 'no module named torch' >&2; exit 1"))
        .withMessage("The fake ended before it answered: no module named torch");
    try (StepProgram program = start(READY + "read -r line; echo 'out of memory' >&2")) {
      assertThatExceptionOfType(BenchException.class)
          .isThrownBy(() -> program.measure(1))
          .withMessageContaining("out of memory");
    }
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> StepProgram.start("The fake", List.of("/no/such/program"), Map.of()))
        .withMessageContaining("The fake cannot be started");
  }

  private Installation installation(String script) throws IOException {
    Path file = folder.resolve("tools/pytorch.py");
    Files.createDirectories(folder.resolve("tools"));
    Files.writeString(file, "#!/bin/sh\n" + script);
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return new Installation(folder);
  }

  @Test
  void findsThePeerThatTheScriptNames() throws Exception {
    List<String> lines = new ArrayList<>();
    String script = "echo 'downloading' >&2; echo /somewhere/bin/python\n";
    assertThat(PeerInstallation.python(installation(script), lines::add))
        .isEqualTo(Path.of("/somewhere/bin/python"));
    assertThat(lines).containsExactly("downloading");
  }

  @Test
  void saysWhyThereIsNoPeerAndWhatToDo() throws IOException {
    Installation installation =
        installation("echo 'kastor: there is no python3 on PATH' >&2; exit 1\n");
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> PeerInstallation.python(installation, _ -> {}))
        .withMessageContaining("cannot be installed: there is no python3 on PATH. Measure")
        .withMessageContaining("--peer none");
  }
}
