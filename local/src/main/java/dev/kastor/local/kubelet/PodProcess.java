package dev.kastor.local.kubelet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * The process of one pod with all that comes of it, from its start or from the moment at which a
 * process that was there before became the pod's. Owned by the kubelet's thread.
 */
final class PodProcess {
  private static final int MAX_MESSAGE_BYTES = 4096;

  private final ProcessSession session;
  private final Path terminationLog;
  private final Instant started = Instant.now();

  PodProcess(ProcessSession session, Path terminationLog) {
    this.session = session;
    this.terminationLog = terminationLog;
  }

  /** Starts the process of a pod. */
  static PodProcess start(PodCommand command) throws IOException, NotStartable {
    return new PodProcess(
        ProcessSession.start(
            command.line(),
            command.environment(),
            command.folder(),
            command.workingDirectory(),
            command.log()),
        command.terminationLog());
  }

  /** The folder by which its processes are found; they need it as long as they live. */
  Path folder() {
    return session.folder();
  }

  long pid() {
    return session.pid();
  }

  Instant started() {
    return started;
  }

  /** Whether the process that the pod started runs. */
  boolean alive() {
    return session.alive();
  }

  /** Whether nothing of the pod runs any more. */
  boolean gone() {
    return session.gone();
  }

  /** Exit code as a shell shows it: 128 + signal for a process that a signal ended. */
  int exitCode() {
    return session.exitCode();
  }

  /** What the container left as its last words; empty when it left none. */
  String terminationMessage() {
    try (InputStream in = Files.newInputStream(terminationLog)) {
      return new String(in.readNBytes(MAX_MESSAGE_BYTES), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  /** Asks all processes to end, and ends them after the grace period. Called again and again. */
  void terminate(Duration grace) {
    session.terminate(grace);
  }

  /** Ends all processes at once. */
  void kill() {
    session.kill();
  }
}
