package dev.kastor.e2e.watch;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The watcher, running beside the suite; what it says is in {@code watcher.log} among the logs. */
public final class WatcherProcess implements AutoCloseable {
  private static final Path LOGS = Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."));
  private static final Path LOG = LOGS.resolve("watcher.log");

  /** What libraries complain of, which must not get between the words of a line of the log. */
  private static final Path ERRORS = LOGS.resolve("watcher-errors.log");

  private static final Duration ASLEEP = Duration.ofSeconds(90);

  private final Process process;
  private final PrintStream ear;

  private WatcherProcess(Process process) {
    this.process = process;
    ear = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /** Starts it. */
  public static WatcherProcess start() throws IOException {
    return new WatcherProcess(
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Watcher.class.getName())
            .redirectError(ProcessBuilder.Redirect.appendTo(ERRORS.toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(LOG.toFile()))
            .start());
  }

  /** Says that a job is about to be deleted by its user. */
  public void deleting(String namespace, String job) {
    ear.println(namespace + "/" + job);
  }

  /** What it has seen so far that must not be. */
  public List<String> violations() throws IOException {
    return seen();
  }

  /** What watchers have seen so far in this run that must not be. */
  public static List<String> seen() throws IOException {
    return lines().stream().filter(line -> line.contains(" " + Watcher.VIOLATION + " ")).toList();
  }

  /** Whether it has looked at the cluster lately; one that does not look sees nothing. */
  public boolean awake() throws IOException {
    return process.isAlive()
        && lines().stream()
            .filter(line -> line.contains(" " + Watcher.AWAKE + " "))
            .map(line -> Instant.parse(line.substring(0, line.indexOf(' '))))
            .anyMatch(at -> at.isAfter(Instant.now().minus(ASLEEP)));
  }

  private static List<String> lines() throws IOException {
    return Files.exists(LOG) ? Files.readAllLines(LOG) : List.of();
  }

  @Override
  public void close() {
    ear.close();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
    }
  }
}
