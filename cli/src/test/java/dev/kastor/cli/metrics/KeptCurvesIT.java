package dev.kastor.cli.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.cli.KastorProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Curves of jobs after a {@code kastor up} that is ended and started again. */
final class KeptCurvesIT {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir Path folder;

  @Test
  void theyGoOnWhereTheyWere() throws Exception {
    long begun;
    try (KastorProcess up = up();
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      assertThat(run(kastor, submit("ended", 1500, "--wait"))).isZero();
      assertThat(run(kastor, submit("lives", 1_000_000))).isZero();
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (loss(kastor, "lives").size() < 8) {
        assertThat(System.nanoTime()).as(up.said()).isLessThan(end);
        Thread.sleep(Duration.ofSeconds(2));
      }
      // The summary in the status is some seconds old at most.
      Thread.sleep(Duration.ofSeconds(4));
      begun = Long.parseLong(loss(kastor, "lives").getFirst().split(",", -1)[1]);
      up.interrupt();
      up.waitFor(PATIENCE);
    }
    try (KastorProcess up = up();
        KastorProcess kastor = new KastorProcess(folder.resolve("home"))) {
      assertThat(loss(kastor, "ended")).as(up.said()).isNotEmpty();
      List<String> lives = loss(kastor, "lives");
      assertThat(lives).hasSizeGreaterThan(3);
      assertThat(Long.parseLong(lives.getFirst().split(",", -1)[1])).isEqualTo(begun);
      assertThat(run(kastor, "rm", "lives")).isZero();
    }
  }

  private KastorProcess up() throws Exception {
    KastorProcess up = new KastorProcess(folder.resolve("home"));
    up.start(folder.resolve("up"), "up", "--slots", "1", "--port", "0");
    up.await("kastor up says where it is", () -> up.said().contains("kubeconfig"));
    return up;
  }

  private String[] submit(String name, long steps, String... more) throws Exception {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(
        file,
        """
        apiVersion: kastor.dev/v1alpha1
        kind: TrainingJob
        metadata: {name: %s}
        spec:
          program: {name: glyph-mlp}
          goodput:
            batchSize: {initial: 64}
            learningRate: {base: "0.05"}
            work: {steps: %d}
        """
            .formatted(name, steps));
    return more.length == 0
        ? new String[] {"submit", file.toString()}
        : new String[] {"submit", file.toString(), more[0]};
  }

  /** Lines of the loss, as CSV. */
  private List<String> loss(KastorProcess kastor, String job) throws Exception {
    assertThat(run(kastor, "metrics", job, "-o", "csv")).as(kastor.said()).isZero();
    return kastor.said().lines().filter(line -> line.contains("loss")).toList();
  }

  private int run(KastorProcess kastor, String... arguments) throws Exception {
    kastor.start(folder.resolve("said"), arguments);
    return kastor.waitFor(PATIENCE);
  }
}
