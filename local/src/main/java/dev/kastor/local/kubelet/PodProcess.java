package dev.kastor.local.kubelet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The processes of one pod: the one that it starts, in a session of its own where the machine has
 * {@code setsid}, and all that come of it, which end with it.
 *
 * <p>Its standard input is a pipe that stays open as long as this JVM lives; an agent told so by
 * {@code KASTOR_EXIT_WITH_PARENT} ends when the pipe does. Owned by the kubelet's thread.
 */
final class PodProcess {
  /** File in a pod's folder with the identity of the process that it started. */
  static final String IDENTITY = "process";

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
  private final Path folder;
  private final Path terminationLog;
  private final Instant started = Instant.now();
  private @Nullable Long killAtNanos;

  private PodProcess(Process process, Path folder, Path terminationLog) {
    this.process = process;
    this.folder = folder;
    this.terminationLog = terminationLog;
  }

  /**
   * Starts the process.
   *
   * @param folder the pod's folder, by which what comes of the process is found
   * @param workingDirectory where it runs
   * @param log where its output goes
   * @param terminationLog where it may leave its last words
   */
  static PodProcess start(
      List<String> command,
      Map<String, String> environment,
      Path folder,
      Path workingDirectory,
      Path log,
      Path terminationLog)
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
    PodProcess started = new PodProcess(builder.start(), folder, terminationLog);
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

  long pid() {
    return process.pid();
  }

  Instant started() {
    return started;
  }

  /** Whether the process that the pod started runs. */
  boolean alive() {
    return process.isAlive();
  }

  /** Whether nothing of the pod runs any more. */
  boolean gone() {
    return !process.isAlive() && members().isEmpty();
  }

  /** Exit code as a shell shows it: 128 + signal for a process that a signal ended. */
  int exitCode() {
    return process.exitValue();
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
   * The pod's processes: those of its session, those that left it but kept their environment, and
   * where the machine shows neither, those whose parents still live.
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
