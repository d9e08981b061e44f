package dev.kastor.local.kubelet;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The processes of one command: the one that it starts, in a session of its own where the machine
 * has {@code setsid}, and all that come of it, which end with it.
 *
 * <p>Its standard input is a pipe that stays open as long as this JVM lives; an agent that is given
 * {@code KASTOR_EXIT_WITH_PARENT} ends when the pipe does. Owned by the kubelet's thread.
 */
final class ProcessSession {
  /** File in a session's folder with the identity of the process that it started. */
  static final String IDENTITY = "process";

  /** Variables that a process inherits from this one; any other could be a secret. */
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

  private final Process process;
  private final Path folder;
  private @Nullable Long killAtNanos;

  private ProcessSession(Process process, Path folder) {
    this.process = process;
    this.folder = folder;
  }

  /**
   * Starts a command.
   *
   * @param environment its own variables
   * @param folder of the session, by which what comes of the process is found
   * @param workingDirectory where it runs
   * @param log where its output goes
   */
  static ProcessSession start(
      List<String> command,
      Map<String, String> environment,
      Path folder,
      Path workingDirectory,
      Path log)
      throws IOException, NotStartable {
    ProcessBuilder builder = new ProcessBuilder().directory(workingDirectory.toFile());
    builder.environment().keySet().retainAll(INHERITED);
    Program program = new Program(command, environment);
    program.check(workingDirectory, builder.environment().getOrDefault("PATH", ""));
    builder.environment().putAll(environment);
    builder.environment().put("KASTOR_EXIT_WITH_PARENT", "true");
    builder.environment().put(ProcessEntry.FOLDER, folder.toString());
    builder.command(program.inItsOwnSession());
    PrivateFiles.touch(log);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    ProcessSession started = new ProcessSession(builder.start(), folder);
    try {
      started.writeDown();
    } catch (IOException e) {
      started.kill();
      throw e;
    }
    return started;
  }

  private void writeDown() throws IOException {
    Optional<ProcessEntry> entry = ProcessEntry.of(process.toHandle());
    if (entry.isPresent()) {
      PrivateFiles.write(
          folder.resolve(IDENTITY), entry.get().identity().getBytes(StandardCharsets.US_ASCII));
    }
  }

  /** The folder by which its processes are found. */
  Path folder() {
    return folder;
  }

  long pid() {
    return process.pid();
  }

  /** Standard input of the process that was started. */
  OutputStream input() {
    return process.getOutputStream();
  }

  /** Whether the process that was started runs. */
  boolean alive() {
    return process.isAlive();
  }

  /** Whether nothing of the session runs any more. */
  boolean gone() {
    return !process.isAlive() && members().isEmpty();
  }

  /** Exit code as a shell shows it: 128 + signal for a process that a signal ended. */
  int exitCode() {
    return process.exitValue();
  }

  /** Asks all processes to end, and ends them after the grace period. Called again and again. */
  void terminate(Duration grace) {
    long now = System.nanoTime();
    long deadline = now + grace.toNanos();
    if (killAtNanos == null) {
      members().forEach(ProcessHandle::destroy);
      killAtNanos = deadline;
    } else if (deadline - killAtNanos < 0) {
      killAtNanos = deadline;
    }
    if (now - killAtNanos >= 0) {
      kill();
    }
  }

  /** Ends all processes at once. */
  void kill() {
    members().forEach(ProcessHandle::destroyForcibly);
  }

  /**
   * The processes of the session, those that left it but kept their environment, and where the
   * machine shows neither, those whose parents still live.
   */
  private List<ProcessHandle> members() {
    long leader = process.pid();
    return Stream.of(
            Stream.of(process.toHandle()),
            process.descendants(),
            ProcessEntry.all().stream()
                .filter(entry -> entry.session() == leader || entry.startedFor(folder))
                .map(ProcessEntry::handle))
        .flatMap(handles -> handles)
        .filter(ProcessHandle::isAlive)
        .distinct()
        .toList();
  }
}
