package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real processes under supervision. The clock is moved by what happens, so that no machine is too
 * slow: each question is asked ten seconds after the one before.
 */
final class SupervisedProcessTest {
  private static final Duration PERIOD = Duration.ofMillis(5);
  private static final Duration BETWEEN = Duration.ofSeconds(10);

  /** Against tests that hang, not a bound. */
  private static final long PATIENCE_MINUTES = 10;

  /** Operator that logs a line for each line that it is given, and never answers. */
  private static final List<String> SLOW =
      List.of("sh", "-c", "exec 3<>go; while read -r line <&3; do echo \"$line\"; done");

  @TempDir Path folder;
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();

  private SupervisedProcess start(List<String> command, Liveness.Question question)
      throws Exception {
    return SupervisedProcess.start(
        "sleeper",
        command,
        Map.of(),
        folder,
        folder.resolve("log"),
        new Liveness(
            () -> {
              nanos.addAndGet(BETWEEN.toNanos());
              asked.incrementAndGet();
              return question.ask();
            },
            PERIOD),
        nanos::get);
  }

  private static void await(CountDownLatch event) throws InterruptedException {
    assertThat(event.await(PATIENCE_MINUTES, TimeUnit.MINUTES)).isTrue();
  }

  private static void awaitStarts(SupervisedProcess process, int starts)
      throws InterruptedException {
    long end = System.nanoTime() + Duration.ofMinutes(PATIENCE_MINUTES).toNanos();
    while (process.starts() < starts) {
      assertThat(System.nanoTime()).as("%d starts", process.starts()).isLessThan(end);
      Thread.sleep(PERIOD);
    }
  }

  private static void signal(String name, SupervisedProcess process) throws Exception {
    String pid = Long.toString(process.pid().orElseThrow());
    assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor()).isZero();
  }

  @Tag("slow")
  @Test
  void oneThatAnsweredAndHangsIsStartedAgain() throws Exception {
    try (SupervisedProcess process =
        start(
            List.of("sleep", "7781"),
            () -> asked.get() == 1 ? Liveness.Answer.GIVEN : Liveness.Answer.NONE)) {
      awaitStarts(process, 2);
      long silent = Liveness.SILENCE.dividedBy(BETWEEN);
      assertThat(asked.get()).isGreaterThanOrEqualTo(Math.toIntExact(1 + silent));
      assertThat(process.ends()).isEqualTo(new SupervisedProcess.Ends(1, 128 + 9));
    }
  }

  @Tag("slow")
  @Test
  void oneThatEndsIsStartedAgainAndItsExitCodeKept() throws Exception {
    try (SupervisedProcess process =
        start(List.of("sh", "-c", "exit 3"), () -> Liveness.Answer.REFUSED)) {
      awaitStarts(process, 3);
      assertThat(process.ends().count()).isGreaterThanOrEqualTo(2);
      assertThat(process.ends().lastCode()).isEqualTo(3);
    }
  }

  @Tag("slow")
  @Test
  void aSlowOneIsWaitedForAndLeftAloneUntilItDoesNothing() throws Exception {
    Path log = folder.resolve("log");
    Path go = folder.resolve("go");
    assertThat(new ProcessBuilder("mkfifo", go.toString()).start().waitFor()).isZero();
    int slowQuestions = 200;
    CountDownLatch slow = new CountDownLatch(slowQuestions);
    CountDownLatch stopped = new CountDownLatch(1);
    Liveness.Question question =
        () -> {
          if (slow.getCount() > 0) {
            oneMoreLine(log, go);
            slow.countDown();
          } else {
            await(stopped);
          }
          return Liveness.Answer.REFUSED;
        };
    try (SupervisedProcess process = start(SLOW, question)) {
      StartLog startLog = StartLog.of(folder.resolve("none"));
      List<String> said = new ArrayList<>();
      StartWait wait = new StartWait(nanos.get(), said::add);
      while (slow.getCount() > 0) {
        assertThat(wait.look(process.ends(), process.activity(), startLog, nanos.get())).isEmpty();
        Thread.sleep(PERIOD);
      }
      assertThat(process.starts()).as("starts of a slow one").isEqualTo(1);
      assertThat(asked.get()).isGreaterThanOrEqualTo(slowQuestions);
      assertThat(Files.readAllLines(log)).hasSize(slowQuestions);

      // From here on it does nothing.
      signal("STOP", process);
      int before = asked.get();
      stopped.countDown();
      Optional<String> givenUp = Optional.empty();
      while (givenUp.isEmpty() && process.starts() == 1) {
        givenUp = wait.look(process.ends(), process.activity(), startLog, nanos.get());
        Thread.sleep(PERIOD);
      }
      awaitStarts(process, 2);
      assertThat(asked.get() - before)
          .as("questions to one that does nothing")
          .isGreaterThanOrEqualTo(Math.toIntExact(Liveness.IDLE_START.dividedBy(BETWEEN)) - 1);
      assertThat(process.ends().lastCode()).isEqualTo(128 + 9);
    }
  }

  /** Has the process log one more line, and waits for it as long as that takes. */
  private static void oneMoreLine(Path log, Path go) throws InterruptedException {
    try {
      long size = Files.size(log);
      Files.writeString(go, "step\n");
      while (Files.size(log) == size) {
        Thread.sleep(1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
