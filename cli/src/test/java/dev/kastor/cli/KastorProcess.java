package dev.kastor.cli;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A {@code kastor} command in a process of its own, one after the other. */
public final class KastorProcess implements AutoCloseable {
  private static final Path ROOT =
      Path.of(System.getProperty("kastor.root")).toAbsolutePath().normalize();
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Conditions may be commands, each of which takes a second of a core. */
  private static final Duration POLL = Duration.ofMillis(500);

  private static final long GRACE_SECONDS = 30;

  private final Path home;
  private @Nullable Process process;
  private @Nullable Path output;

  /**
   * One that runs nothing yet.
   *
   * @param home its {@code KASTOR_HOME}
   */
  public KastorProcess(Path home) {
    this.home = home;
  }

  /** Starts a command; what it says goes to a file. */
  public void start(Path said, String... arguments) throws IOException {
    output = said;
    ProcessBuilder builder = builder(home, List.of(), arguments);
    // Where a shell runs these tests in the background, all below it would ignore Ctrl-C.
    builder.command().addAll(0, List.of("env", "--default-signal=INT"));
    process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
  }

  /**
   * A builder of a process that runs a command.
   *
   * @param home its {@code KASTOR_HOME}
   * @param jvmOptions further options of its JVM
   */
  public static ProcessBuilder builder(Path home, List<String> jvmOptions, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", classPath(), Kastor.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("KASTOR_INSTALL", ROOT.toString());
    builder.environment().put("KASTOR_HOME", home.toString());
    return builder;
  }

  /** That of this process, for any working folder. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(joining(File.pathSeparator));
  }

  /** All that it has said. */
  public String said() {
    try {
      return Files.readString(Objects.requireNonNull(output));
    } catch (IOException e) {
      return "";
    }
  }

  /** Waits until something holds, at the latest until the process ends. */
  public void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(running().isAlive()).as("%s, but: %s", what, said()).isTrue();
      assertThat(System.nanoTime()).as("%s, but: %s", what, said()).isLessThan(end);
      Thread.sleep(POLL);
    }
  }

  /** Its exit status. */
  public int waitFor(Duration patience) throws InterruptedException {
    assertThat(running().waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)).as(said()).isTrue();
    return running().exitValue();
  }

  /** Does what Ctrl-C does. */
  public void interrupt() throws IOException, InterruptedException {
    String pid = Long.toString(running().pid());
    assertThat(new ProcessBuilder("kill", "-INT", pid).start().waitFor()).isZero();
  }

  private Process running() {
    return Objects.requireNonNull(process);
  }

  @Override
  public void close() {
    Process last = process;
    if (last == null) {
      return;
    }
    last.destroy();
    try {
      if (!last.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
        last.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      last.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
