package dev.kastor.local.kubelet;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The process of one pod.
 *
 * <p>Its standard input is a pipe that stays open as long as this JVM lives; an agent told so by
 * {@code KASTOR_EXIT_WITH_PARENT} ends when the pipe does. Owned by the kubelet's thread.
 */
final class PodProcess {
  /** What a process inherits from this one; all else could be somebody's secret. */
  private static final Set<String> INHERITED =
      Set.of(
          "PATH",
          "HOME",
          "USER",
          "LANG",
          "LC_ALL",
          "TZ",
          "TMPDIR",
          "JAVA_HOME",
          "LD_LIBRARY_PATH",
          "CUDA_VISIBLE_DEVICES");

  private static final int MAX_MESSAGE_BYTES = 4096;

  private final Process process;
  private final Path terminationLog;
  private final Instant started = Instant.now();
  private @Nullable Instant killAt;

  private PodProcess(Process process, Path terminationLog) {
    this.process = process;
    this.terminationLog = terminationLog;
  }

  static PodProcess start(
      List<String> command,
      Map<String, String> environment,
      Path folder,
      Path log,
      Path terminationLog)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().retainAll(INHERITED);
    builder.environment().putAll(environment);
    builder.environment().put("KASTOR_EXIT_WITH_PARENT", "true");
    PrivateFiles.touch(log);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    return new PodProcess(builder.start(), terminationLog);
  }

  long pid() {
    return process.pid();
  }

  Instant started() {
    return started;
  }

  boolean alive() {
    return process.isAlive();
  }

  /** Exit code as a shell shows it: 128 + signal for a process that a signal ended. */
  int exitCode() {
    return process.exitValue();
  }

  /** What the container left as its last words; empty when it left none. */
  String terminationMessage() {
    try {
      byte[] bytes = Files.readAllBytes(terminationLog);
      int length = Math.min(bytes.length, MAX_MESSAGE_BYTES);
      return new String(bytes, 0, length, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  /** Asks the process to end, and ends it after the grace period. Called again and again. */
  void terminate(Duration grace) {
    Instant now = Instant.now();
    Instant deadline = now.plus(grace);
    if (killAt == null) {
      process.destroy();
      killAt = deadline;
    } else if (deadline.isBefore(killAt)) {
      killAt = deadline;
    }
    if (!now.isBefore(killAt)) {
      process.destroyForcibly();
    }
  }

  void kill() {
    process.destroyForcibly();
  }

  boolean awaitExit(Duration patience) throws InterruptedException {
    return process.waitFor(patience);
  }
}
