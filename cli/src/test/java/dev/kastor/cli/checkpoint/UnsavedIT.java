package dev.kastor.cli.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.terminal.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job under a real {@code kastor up} whose folder of checkpoints cannot be written for a while.
 */
final class UnsavedIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
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

  @TempDir Path folder;

  @Test
  void aCheckpointThatIsNotSavedIsSaidEverywhere() throws Exception {
    try (KastorProcess up = new KastorProcess(folder.resolve("home"));
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      up.start(folder.resolve("up"), "up", "--slots", "1", "--port", "0");
      up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
      Path job = Files.writeString(folder.resolve("job.yaml"), JOB);
      assertThat(run(kastor, "submit", job.toString())).isZero();
      Path jobs = folder.resolve("home/checkpoints/default");
      up.await("a checkpoint is saved", () -> !saved(jobs).isEmpty());
      assertThat(run(kastor, "doctor")).isZero();
      Path own = saved(jobs).getFirst().getParent();
      Path away = folder.resolve("away");
      Files.move(own, away);
      Files.createFile(own);

      up.await("describe says so", () -> says(kastor, "describe", "Unsaved"));
      assertThat(kastor.said()).contains("CheckpointFailed", "A restart would go back to that of ");
      assertThat(says(kastor, "events", "CheckpointFailed")).isTrue();
      assertThat(run(kastor, "doctor")).isEqualTo(ExitCode.FAILED);
      assertThat(kastor.said()).contains("1 of 1 jobs cannot save them", "default/digits");
      assertThat(says(kastor, "get", "Running")).isTrue();

      Files.delete(own);
      Files.move(away, own);
      up.await("it is over", () -> says(kastor, "describe", "CheckpointSaved"));
      assertThat(run(kastor, "doctor")).isZero();
    }
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

  private boolean says(KastorProcess kastor, String command, String what) {
    try {
      assertThat(
              command.equals("get")
                  ? run(kastor, command, "digits", "-o", "yaml")
                  : run(kastor, command, "digits"))
          .isZero();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return kastor.said().contains(what);
  }

  private int run(KastorProcess kastor, String... arguments) throws Exception {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
