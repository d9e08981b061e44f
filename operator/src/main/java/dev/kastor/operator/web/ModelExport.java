package dev.kastor.operator.web;

import dev.kastor.scheduler.model.JobId;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Export of models by the command {@code kastor export}, one at a time.
 *
 * <p>Local mode says where the command is, because checkpoints are on its machine. The operator
 * itself knows neither programs nor checkpoints, and on a cluster it does not reach their volume.
 */
@Singleton
final class ModelExport {
  static final int MOST_BYTES = 16 * 1024 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(ModelExport.class);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int MOST_CHARACTERS = 1000;
  private static final long MOST_SAID_BYTES = 4096;
  private static final long END_SECONDS = 5;
  private static final String BY_HAND =
      "Export it with: kastor export %s -n %s -o model.onnx   and choose the file here";

  private final Optional<String> command;
  private final Duration patience;
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

  @Inject
  ModelExport(@ConfigProperty(name = "kastor.web.export") Optional<String> command) {
    this(command, PATIENCE);
  }

  ModelExport(Optional<String> command, Duration patience) {
    this.command = command;
    this.patience = patience;
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

  private byte[] exported(String kastor, JobId job, Path file, Path said)
      throws IOException, Unavailable {
    ProcessBuilder builder =
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
            .redirectOutput(said.toFile());
    // In a checkout the command would build what is out of date, below the running operator.
    builder.environment().put("KASTOR_AS_BUILT", "true");
    Process process = builder.start();
    try {
      if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new Unavailable(
            true,
            ("the export of job %s takes longer than %d s. " + BY_HAND)
                .formatted(job, patience.toSeconds(), job.name(), job.namespace()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Unavailable(true, "the operator ends");
    } finally {
      List<ProcessHandle> all =
          Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
      all.forEach(ProcessHandle::destroyForcibly);
      // Who still runs could leave files in a folder that is being removed.
      all.forEach(ModelExport::awaitEnd);
    }
    if (process.exitValue() != 0 || !Files.exists(file)) {
      throw new Unavailable(false, shortened(end(said)));
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
  private static void remove(Path folder) {
    try (Stream<Path> left = Files.list(folder)) {
      for (Path each : left.toList()) {
        Files.deleteIfExists(each);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      LOG.warn("cannot remove {}: {}", folder, e.toString());
    }
  }

  private static void awaitEnd(ProcessHandle process) {
    process.onExit().orTimeout(END_SECONDS, TimeUnit.SECONDS).exceptionally(_ -> process).join();
  }

  /** The last bytes of a file as text; what is no UTF-8 is replaced. */
  private static String end(Path file) throws IOException {
    try (SeekableByteChannel channel = Files.newByteChannel(file)) {
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MOST_SAID_BYTES, channel.size()));
      channel.position(channel.size() - bytes.capacity());
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {}
      return StandardCharsets.UTF_8.decode(bytes.flip()).toString();
    }
  }

  /** The end of what the command said, where its reason is. */
  private static String shortened(String said) {
    String text = said.strip().replaceFirst("^kastor: ", "");
    return text.substring(Math.max(0, text.length() - MOST_CHARACTERS));
  }
}
