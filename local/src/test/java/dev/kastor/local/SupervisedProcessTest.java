package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SupervisedProcessTest {
  private static final Duration PERIOD = Duration.ofMillis(20);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir Path folder;

  private SupervisedProcess sleeper(Liveness.Question question, Duration startup) throws Exception {
    return SupervisedProcess.start(
        "sleeper",
        List.of("sleep", "7781"),
        Map.of(),
        folder,
        folder.resolve("log"),
        new Liveness(question, PERIOD, startup));
  }

  private static void await(SupervisedProcess process, int starts) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (process.starts() < starts && System.nanoTime() < end) {
      Thread.sleep(PERIOD);
    }
    assertThat(process.starts()).isGreaterThanOrEqualTo(starts);
  }

  @Test
  void oneThatLivesButDoesNotAnswerIsStartedAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (SupervisedProcess process =
        sleeper(() -> asked.incrementAndGet() == 1, Duration.ofDays(1))) {
      await(process, 2);
      assertThat(asked.get()).isGreaterThanOrEqualTo(1 + Liveness.FAILURES);
    }
  }

  @Test
  void oneThatIsStillStartingIsLeftAlone() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (SupervisedProcess process =
        sleeper(
            () -> {
              asked.incrementAndGet();
              return false;
            },
            Duration.ofDays(1))) {
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (asked.get() < 3 * Liveness.FAILURES && System.nanoTime() < end) {
        Thread.sleep(PERIOD);
      }
      assertThat(process.starts()).isEqualTo(1);
    }
  }

  @Test
  void threeFailuresInARowCount() throws InterruptedException {
    List<Boolean> answers = List.of(true, false, false, true, false, false, false);
    AtomicInteger asked = new AtomicInteger();
    Liveness.Watch watch =
        new Liveness(() -> answers.get(asked.getAndIncrement()), PERIOD, Duration.ofDays(1))
            .watch();
    for (int i = 0; i < answers.size() - 1; i++) {
      assertThat(watch.isDead()).isFalse();
    }
    assertThat(watch.isDead()).isTrue();
  }
}
