package dev.kastor.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RunCommandTest {
  private static final YAMLMapper YAML = new YAMLMapper();

  @TempDir Path folder;

  @Test
  void showsTheJobThatItWouldSubmit() throws Exception {
    var shown =
        Terminal.runPlain(
            "run",
            "--name",
            "bert",
            "--replicas",
            "1-4",
            "--gpus-per-replica",
            "8",
            "--batch",
            "128-4096",
            "--per-replica",
            "64",
            "--no-accumulation",
            "-e",
            "NOTE=a$(B)",
            "--dry-run",
            "--",
            "sh",
            "train.sh",
            "--lr",
            "0.1");
    assertThat(shown.err()).isEmpty();
    JsonNode job = YAML.readTree(shown.out());
    assertThat(job.at("/metadata/name").asText()).isEqualTo("bert");
    assertThat(job.at("/spec/elastic"))
        .isEqualTo(YAML.readTree("{minReplicas: 1, maxReplicas: 4, slotsPerReplica: 8}"));
    assertThat(job.at("/spec/goodput/batchSize"))
        .isEqualTo(
            YAML.readTree(
                "{initial: 128, max: 4096, perDevice: {min: 1, max: 64}, gradientAccumulation: false}"));
    JsonNode container = job.at("/spec/template/spec/containers/0");
    assertThat(Path.of(container.at("/command/0").asText())).isAbsolute().isExecutable();
    assertThat(container.at("/command/3").asText()).isEqualTo("0.1");
    assertThat(container.at("/workingDir").asText())
        .isEqualTo(Path.of("").toAbsolutePath().toString());
    assertThat(container.at("/env")).anyMatch(each -> each.path("name").asText().equals("PATH"));
    assertThat(container.at("/env"))
        .as("Kubernetes makes a$(B) of it again")
        .contains(YAML.readTree("{name: NOTE, value: a$$(B)}"));
    assertThat(container.at("/env"))
        .as("what a script prints is seen when it prints it")
        .contains(YAML.readTree("{name: PYTHONUNBUFFERED, value: '1'}"));
  }

  @Test
  void ownVariablesComeFirst() throws Exception {
    var shown =
        Terminal.runPlain(
            "run", "-e", "PYTHONUNBUFFERED=", "--image", "lab/bert:1", "--dry-run", "--", "sh");
    assertThat(YAML.readTree(shown.out()).at("/spec/template/spec/containers/0/env"))
        .isEqualTo(YAML.readTree("[{name: PYTHONUNBUFFERED, value: ''}]"));
  }

  @Test
  void aClusterTakesWhatItSubmits() throws Exception {
    try (Terminal terminal = new Terminal(folder)) {
      var result =
          terminal.run(
              "run",
              "--name",
              "bert",
              "--replicas",
              "2-4",
              "--batch",
              "128",
              "--image",
              "lab/bert:1",
              "--detach",
              "--",
              "python",
              "train.py");
      assertThat(result.err()).contains("submitted bert").contains("kastor logs bert -f");
      assertThat(result.code()).isEqualTo(ExitCode.OK);
      try (var client = new KubernetesClientBuilder().withConfig(terminal.config()).build()) {
        TrainingJobSpec spec =
            client
                .resources(TrainingJob.class)
                .inNamespace("default")
                .withName("bert")
                .get()
                .getSpec();
        assertThat(spec.gang()).isFalse();
        assertThat(spec.runs()).isEqualTo("lab/bert:1");
        assertThat(String.valueOf(spec.template())).doesNotContain("workingDir", "PATH");
      }
    }
  }

  @Test
  void aCommandThatRestartsMayHaveSeveralSizes() throws Exception {
    var result =
        Terminal.runPlain(
            "run", "--restart", "--replicas", "2-8", "--dry-run", "--", "sh", "-c", "true");
    assertThat(result.err()).isEmpty();
    assertThat(YAML.readTree(result.out()).at("/spec/elastic"))
        .isEqualTo(YAML.readTree("{minReplicas: 2, maxReplicas: 8, rescale: Restart}"));
    var both =
        Terminal.runPlain(
            "run", "--restart", "--batch", "32", "--dry-run", "--", "sh", "-c", "true");
    assertThat(both.code()).isEqualTo(ExitCode.USAGE);
    assertThat(both.err()).contains("--restart: a script with --batch is resized");
  }

  @Test
  void elsewhereAnImageIsNeeded() throws Exception {
    try (Terminal terminal = new Terminal(folder)) {
      var result = terminal.run("run", "--", "sh", "-c", "true");
      assertThat(result.code()).isEqualTo(ExitCode.USAGE);
      assertThat(result.err()).contains("--image is needed");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --replicas|0|must be a number such as 4
          --replicas|4-2|must be a number such as 4
          --replicas|1-4|Say its batch with --batch N
          --batch|many|--batch: 'many'
          --gpus-per-replica|0|--gpus-per-replica must be from 1 to 64 but is 0
          --gpus-per-replica|65|--gpus-per-replica must be from 1 to 64 but is 65
          --env|NO_SUCH_VARIABLE_HERE|--env NO_SUCH_VARIABLE_HERE=VALUE
          """)
  void saysWhatIsWrong(String option, String value, String message) {
    var result = Terminal.runPlain("run", option, value, "--dry-run", "--", "sh", "-c", "true");
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains(message);
  }

  @Test
  void aProgramThatIsNowhereIsNamed() {
    var result = Terminal.runPlain("run", "--dry-run", "--", "no-such-program-anywhere");
    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
    assertThat(result.err()).contains("there is no program no-such-program-anywhere on PATH");
  }

  @ParameterizedTest
  @CsvSource({
    "python train.py, train",
    "python src/Fine_Tune.v2.py --epochs 3, fine-tune-v2",
    "./run.sh, run",
    "/bin/42, run",
    "sleep 3, sleep"
  })
  void isCalledAfterItsScript(String command, String name) {
    assertThat(Manifest.nameAfter(List.of(command.split(" ")), new Random(1)))
        .matches(name + "-[a-z]{4}");
  }
}
