package dev.kastor.operator.web;

import dev.kastor.scheduler.model.JobId;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Export of models by the command {@code kastor export}, one at a time.
 *
 * <p>Local mode says where the command is, because checkpoints are on its machine. The operator
 * itself knows neither programs nor checkpoints, and on a cluster it does not reach their volume.
 */
@Singleton
final class ModelExport {
  static final int MOST_BYTES = 16 * 1024 * 1024;

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MOST_CHARACTERS = 1000;
  private static final String BY_HAND =
      "Export it with: kastor export %s -n %s -o model.onnx   and choose the file here";

  private final Optional<String> command;
  private final Semaphore turn = new Semaphore(1);

  /** A model that is not there now; the message says why. */
  static final class Unavailable extends Exception {
    private static final long serialVersionUID = 1;

    private final boolean later;

    private Unavailable(boolean later, String message) {
      super(message, null, false, false);
      this.later = later;
    }

    /** Whether it may be there if it is asked for again. */
    boolean later() {
      return later;
    }
  }

  ModelExport(@ConfigProperty(name = "kastor.web.export") Optional<String> command) {
    this.command = command;
  }

  /**
   * The model of a job's newest checkpoint as a file of ONNX.
   *
   * @param job one that the cluster has, so that its name is no option of the command
   */
  byte[] onnx(JobId job) throws Unavailable {
    String kastor =
        command.orElseThrow(() ->
            new Unavailable(
                false,
                ("this operator does not reach the checkpoints of job %s. " + BY_HAND)
                    .formatted(job, job.name(), job.namespace())));
    if (!turn.tryAcquire()) {
      throw new Unavailable(true, "another model is exported now; try again in some seconds");
    }
    try {
      Path folder = Files.createTempDirectory("kastor-model");
      Path file = folder.resolve("model.onnx");
      Path said = folder.resolve("said");
      try {
        return exported(kastor, job, file, said);
      } finally {
        remove(folder);
      }
    } catch (IOException e) {
      throw new Unavailable(
          true, "the model of job %s cannot be exported: %s".formatted(job, e.getMessage()));
    } finally {
      turn.release();
    }
  }

  private static byte[] exported(String kastor, JobId job, Path file, Path said)
      throws IOException, Unavailable {
    Process process =
        new ProcessBuilder(
                List.of(
                    kastor,
                    "export",
                    job.name(),
                    "-n",
                    job.namespace(),
                    "--format",
                    "onnx",
                    "-o",
                    file.toString()))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new Unavailable(
            true,
            ("the export of job %s takes longer than %d s. " + BY_HAND)
                .formatted(job, PATIENCE.toSeconds(), job.name(), job.namespace()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Unavailable(true, "the operator ends");
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    if (process.exitValue() != 0 || !Files.exists(file)) {
      throw new Unavailable(false, shortened(Files.readString(said, StandardCharsets.UTF_8)));
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new Unavailable(
          false,
          ("the model of job %s has %d bytes, more than the %d that the page loads. " + BY_HAND)
              .formatted(job, Files.size(file), MOST_BYTES, job.name(), job.namespace()));
    }
    return Files.readAllBytes(file);
  }

  /** Removes a folder with all that a command, which may have been killed, has left there. */
  private static void remove(Path folder) throws IOException {
    try (Stream<Path> left = Files.list(folder)) {
      for (Path each : left.toList()) {
        Files.delete(each);
      }
    }
    Files.delete(folder);
  }

  /** The end of what the command said, where its reason is. */
  private static String shortened(String said) {
    String text = said.strip().replaceFirst("^kastor: ", "");
    return text.substring(Math.max(0, text.length() - MOST_CHARACTERS));
  }
}
