package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.protocol.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Times of steps with one of three workers ten times slower, whose passes only wait. */
@Tag("nightly") // a benchmark of wall-clock time: DealsTest has the same in simulated time
@Tag("timing")
final class ServerTimesTest {
  private static final Duration PASS = Duration.ofMillis(30);
  private static final int STEPS = 60;

  @TempDir Path folder;

  @Test
  void aBackupWorkerHidesASlowOne() throws Exception {
    double usual = secondsOfAStep(1, false);
    double hidden = secondsOfAStep(1, true);
    double waited = secondsOfAStep(0, true);
    String told =
        String.format(
            Locale.ROOT,
            "seconds of a step: %.4f with a backup worker and none slow, %.4f with one slow, %.4f"
                + " without a backup worker",
            usual,
            hidden,
            waited);
    System.out.println(told);
    assertThat(hidden).as(told).isLessThan(1.2 * usual);
    assertThat(waited).as(told).isGreaterThan(5 * usual);
  }

  private double secondsOfAStep(int backup, boolean slow) throws Exception {
    TrainingSettings settings =
        new TrainingSettings(
            16,
            0.02,
            new AdaScale(),
            new Work.Steps(1L << 40),
            5,
            Duration.ofDays(1),
            Duration.ofDays(1),
            Features.sync(SyncPolicies.BUILT_IN.choose("parameter-server:backup=" + backup)));
    Path own = Files.createTempDirectory(folder, "job");
    try (ServerJob job = new ServerJob(own, settings, 1)) {
      job.start(3, false);
      List<TestReplica> workers = job.workers();
      workers.forEach(each -> each.model().delay(PASS));
      if (slow) {
        workers.getLast().model().delay(PASS.multipliedBy(10));
      }
      // It is known as slow after its first share.
      job.awaitSteps(15);
      long from = System.nanoTime();
      long first = job.step();
      job.awaitSteps(STEPS);
      double seconds = (System.nanoTime() - from) * 1e-9;
      double step = seconds / (job.step() - first);
      job.operator().stop();
      job.end(Outcome.Kind.STOPPED);
      return step;
    }
  }
}
