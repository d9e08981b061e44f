package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.SharedUp;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job under a real {@code kastor up} whose folder of checkpoints cannot be written for a while.
 */
final class UnsavedIT {
  private static final String JOB =
      """
      apiVersion: kastor.dev/v1alpha1
      kind: TrainingJob
      metadata: {name: digits}
      spec:
        program: {name: glyph-mlp}
        checkpoint: {intervalSeconds: 1}
        goodput:
          batchSize: {initial: 64}
          learningRate: {base: "0.05"}
          work: {steps: 100000000}
      """;

  @RegisterExtension static final SharedUp UP = new SharedUp();

  @TempDir Path folder;

  @Test
  void aCheckpointThatIsNotSavedIsSaidEverywhere() throws Exception {
    Path job = Files.writeString(folder.resolve("job.yaml"), JOB);
    assertThat(run("submit", job.toString())).isZero();
    Path jobs = UP.home().resolve("checkpoints/default");
    UP.up().await("a checkpoint is saved", () -> !saved(jobs).isEmpty());
    assertThat(run("doctor")).isZero();
    Path own = saved(jobs).getFirst().getParent();
    Path away = folder.resolve("away");
    Files.move(own, away);
    Files.createFile(own);

    UP.up().await("describe says so", () -> says("describe", "Unsaved"));
    assertThat(UP.shell().said())
        .contains("CheckpointFailed", "A restart would go back to that of ");
    assertThat(says("events", "CheckpointFailed")).isTrue();
    assertThat(run("doctor")).isEqualTo(ExitCode.FAILED);
    assertThat(UP.shell().said()).contains("1 of 1 jobs cannot save them", "default/digits");
    assertThat(says("get", "Running")).isTrue();

    Files.delete(own);
    Files.move(away, own);
    UP.up().await("it is over", () -> says("describe", "CheckpointSaved"));
    assertThat(run("doctor")).isZero();
  }

  private static List<Path> saved(Path jobs) {
    if (!Files.isDirectory(jobs)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(jobs)) {
      return files.filter(file -> file.toString().endsWith(".ckpt")).toList();
    } catch (Exception e) {
      // A file that was replaced meanwhile.
      return List.of();
    }
  }

  private static boolean says(String command, String what) {
    String said =
        command.equals("get")
            ? UP.shell().succeed(command, "digits", "-o", "yaml")
            : UP.shell().succeed(command, "digits");
    return said.contains(what);
  }

  private static int run(String... arguments) {
    return UP.shell().run(arguments).code();
  }
}
