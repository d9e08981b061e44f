package dev.kastor.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
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

final class CompareRunsTest {
  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void submit() throws IOException {
    terminal = new Terminal(folder);
    job("slow", "0.01", "{sweep: lr}", "0.9");
    job("fast", "0.1", "{sweep: lr, owner: me}", "0.97");
  }

  @AfterEach
  void close() {
    terminal.close();
  }

  private void job(String name, String rate, String labels, String accuracy) throws IOException {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(
        file,
        Terminal.JOB
            .replace("{name: digits}", "{name: %s, labels: %s}".formatted(name, labels))
            .replace("0.05", rate));
    assertThat(terminal.run("submit", file.toString()).code()).isZero();
    terminal.status(
        name,
        "{phase: Succeeded, training: {metricName: accuracy, finalMetric: %s, loss: 0.5, percent: 100, globalBatch: 64, rescales: 2}}"
            .formatted(accuracy));
  }

  @Tag("slow")
  @Test
  void showsWhatDiffersAndWhatCameOfIt() {
    assertThat(
            terminal.run("compare-runs", "slow", "fast").out().lines().map(String::stripTrailing))
        .containsExactly(
            "                           slow       fast",
            "goodput.learningRate.base  0.01       0.1",
            "label owner                -          me",
            "PHASE                      Succeeded  Succeeded",
            "accuracy                   0.900      0.970",
            "loss                       0.500      0.500",
            "done                       100%       100%",
            "took                       -          -",
            "batch                      64         64",
            "rescales                   2          2",
            "restarts                   -          -");
  }

  @Tag("slow")
  @Test
  void takesLabelsAndMakesDocuments() throws IOException {
    JsonNode runs =
        new ObjectMapper()
            .readTree(terminal.run("compare-runs", "-l", "sweep=lr", "-o", "json").out());
    assertThat(runs).hasSize(2);
    assertThat(runs.findValuesAsText("goodput.learningRate.base"))
        .containsExactlyInAnyOrder("0.01", "0.1");
    assertThat(runs.at("/0/job/finalMetric").isNumber()).isTrue();
  }

  @Tag("slow")
  @Test
  void saysWhatIsMissing() {
    assertThat(terminal.run("compare-runs").code()).isEqualTo(ExitCode.USAGE);
    assertThat(terminal.run("compare-runs", "slow", "none").code()).isEqualTo(ExitCode.NOT_FOUND);
  }
}
