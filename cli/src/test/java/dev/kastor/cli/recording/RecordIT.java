package dev.kastor.cli.recording;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import dev.kastor.cli.KastorShell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real {@code kastor up} whose jobs are recorded and replayed. */
final class RecordIT {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final int JOBS = 3;

  private static final Pattern LIKENESS =
      Pattern.compile(
          "of the (\\d+) jobs .* \\(([+-][0-9.]+) %\\); half of them are within ([0-9.]+) %");

  @TempDir Path folder;

  private static String job(String name, int steps, int most) {
    return """
    apiVersion: kastor.dev/v1alpha1
    kind: TrainingJob
    metadata: {name: %s}
    spec:
      program: {name: glyph-mlp}
      elastic: {minReplicas: 1, maxReplicas: %d}
      goodput:
        batchSize: {initial: 64, max: 512, perDevice: {min: 16, max: 128}}
        learningRate: {base: "0.05"}
        work: {steps: %d}
    """
        .formatted(name, most, steps);
  }

  @Test
  void whatRanIsRecordedReplayedAndCompared() throws Exception {
    Path recording = folder.resolve("recording.json");
    try (KastorProcess up = new KastorProcess(folder.resolve("home"));
        KastorShell kastor = new KastorShell(folder.resolve("home"), folder)) {
      up.start(folder.resolve("up.txt"), "up", "--slots", "2", "--port", "0");
      up.await("a cluster", () -> up.said().contains("kubeconfig"));
      for (int n = 0; n < JOBS; n++) {
        Path file = folder.resolve("job-" + n + ".yaml");
        Files.writeString(file, job("work-" + n, 1_000 + 500 * n, 1 + n % 2));
        kastor.succeed("submit", file.toString());
      }
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (kastor.succeed("ls").split("Succeeded", -1).length <= JOBS) {
        assertThat(System.nanoTime()).as("jobs end").isLessThan(end);
        Thread.sleep(Duration.ofMillis(500));
      }
      String said = kastor.succeed("record", "-o", recording.toString());
      assertThat(said).startsWith(JOBS + " jobs from ");
      assertThat(Files.readString(recording)).doesNotContain("work-").contains("COMPLETED");
      String replayed = kastor.succeed("simulate", "--quiet", "--recording", recording.toString());
      Matcher likeness = LIKENESS.matcher(replayed);
      assertThat(likeness.find()).as(replayed).isTrue();
      assertThat(likeness.group(1)).isEqualTo(Integer.toString(JOBS));
      // How near it is depends on what else the machine does: bench/record measures it.
      assertThat(
              kastor.succeed(
                  "simulate", "--quiet", "--recording", recording.toString(), "--policy", "fifo"))
          .contains("fifo");
    }
  }
}
