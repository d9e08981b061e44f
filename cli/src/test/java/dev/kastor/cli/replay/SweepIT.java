package dev.kastor.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.Kastor;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sweeps in processes of their own, which are killed as kill -9 does. */
final class SweepIT {
  private static final Path TRACES =
      Path.of(System.getProperty("kastor.root", "..")).resolve("traces");
  private static final int RUNS = 18;

  @TempDir private Path folder;

  private List<String> arguments(Path out) {
    return List.of(
        "sweep",
        "--workload",
        TRACES.resolve("workloads/burst-8.csv").toString(),
        "--profiles",
        TRACES.resolve("profiles/kastor.csv").toString(),
        "--policy",
        "pollux,tiresias,optimus",
        "--seeds",
        "3",
        "--load",
        "1,2",
        "--jobs",
        "2",
        "--quiet",
        "--out",
        out.toString());
  }

  private Process start(Path out) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "-Xmx512m", "-XX:+UseSerialGC"));
    command.add(Kastor.class.getName());
    command.addAll(arguments(out));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("log-" + System.nanoTime()).toFile())
        .start();
  }

  private static long lines(Path file) throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    return Files.readString(file).chars().filter(c -> c == '\n').count();
  }

  @Test
  void killedThreeTimesItWritesTheSameBytesAsLeftAlone() throws Exception {
    Path alone = folder.resolve("alone.json");
    Terminal.Result left = Terminal.runPlain(arguments(alone).toArray(String[]::new));
    assertThat(left.err()).isEmpty();
    assertThat(left.code()).isZero();

    Path killed = folder.resolve("killed.json");
    Path journal = folder.resolve("killed.json.journal");
    long done = 0;
    for (int kill = 0; kill < 3; kill++) {
      Process process = start(killed);
      long end = System.nanoTime() + Duration.ofMinutes(10).toNanos();
      // The first line says which sweep it is; wait for at least one more run than before.
      while (lines(journal) < done + 2 && process.isAlive()) {
        assertThat(System.nanoTime()).as("a run ends").isLessThan(end);
        Thread.sleep(5);
      }
      assertThat(process.isAlive()).as("killed before its end").isTrue();
      process.destroyForcibly();
      assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as("ended by SIGKILL").isEqualTo(128 + 9);
      assertThat(killed).doesNotExist();
      long now = lines(journal) - 1;
      assertThat(now).isGreaterThan(done).isLessThan(RUNS);
      done = now;
    }
    // What a kill in the middle of a write leaves behind.
    Files.writeString(journal, Files.readString(journal) + "{\"result\":{\"policy\":\"pol");

    Terminal.Result last = Terminal.runPlain(arguments(killed).toArray(String[]::new));
    assertThat(last.code()).as(last.err()).isZero();
    assertThat(last.out()).contains("going on: %d of %d runs are done".formatted(done, RUNS));
    assertThat(Files.readAllBytes(killed)).isEqualTo(Files.readAllBytes(alone));
    assertThat(journal).doesNotExist();
    assertThat(Files.readAllLines(folder.resolve("killed.json.costs.csv"))).hasSize(RUNS + 1);
  }

  @Test
  void refusesAJournalOfAnotherSweep() throws Exception {
    Path out = folder.resolve("out.json");
    Files.writeString(folder.resolve("out.json.journal"), "{\"sweep\":\"another\"}\n");
    Terminal.Result refused = Terminal.runPlain(arguments(out).toArray(String[]::new));
    assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err())
        .contains("out.json.journal belongs to a sweep with other settings")
        .contains("remove the file");
    assertThat(out).doesNotExist();
  }
}
