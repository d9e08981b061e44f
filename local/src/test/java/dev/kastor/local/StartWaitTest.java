package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long {@code kastor up} waits for its operator, with a clock that the test moves. */
final class StartWaitTest {
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final SupervisedProcess.Ends NEVER = new SupervisedProcess.Ends(0, 0);

  @TempDir Path folder;
  private final List<String> said = new ArrayList<>();
  private final StartWait wait = new StartWait(0, said::add);
  private Path file = Path.of("operator.log");
  private StartLog log;
  private long nanos;
  private Duration cpu = Duration.ZERO;

  @BeforeEach
  void logOfAnEarlierStart() throws Exception {
    file = Files.writeString(folder.resolve("operator.log"), "of yesterday\n");
    log = StartLog.of(file);
  }

  private void write(String text) throws Exception {
    Files.writeString(file, text, StandardOpenOption.APPEND);
  }

  private Optional<String> look(SupervisedProcess.Ends ends) throws Exception {
    nanos += POLL.toNanos();
    return wait.look(ends, new Activity(Files.size(file), cpu), log, nanos);
  }

  @Tag("slow")
  @Test
  void anOperatorThatUsesCpuTimeIsWaitedForWithoutLimit() throws Exception {
    for (int second = 1; second <= 24 * 3600; second++) {
      cpu = cpu.plusMillis(second % 60 == 0 ? 10 : 0);
      assertThat(look(NEVER)).isEmpty();
    }
  }

  @Test
  void anOperatorThatLogsIsWaitedForAndItsLinesAreCounted() throws Exception {
    for (int second = 1; second <= 90; second++) {
      write(second % 10 == 0 ? "line\n" : "");
      assertThat(look(NEVER)).isEmpty();
    }
    assertThat(said)
        .containsExactly(
            "still starting after 30 s: the operator has logged 3 lines; log: " + file,
            "still starting after 60 s: the operator has logged 6 lines; log: " + file,
            "still starting after 90 s: the operator has logged 9 lines; log: " + file);
  }

  @Test
  void anOperatorThatDoesNothingIsGivenUpAfterMinutes() throws Exception {
    write("line\n");
    assertThat(look(NEVER)).isEmpty();
    for (int second = 1; second < StartWait.NO_PROGRESS.toSeconds(); second++) {
      assertThat(look(NEVER)).isEmpty();
    }
    assertThat(look(NEVER))
        .hasValue(
            "the operator lives but did nothing for 180 s: it used no CPU time and logged nothing");
  }

  @Test
  void aMachineThatSleptIsNoOperatorThatDidNothing() throws Exception {
    assertThat(look(NEVER)).isEmpty();
    for (int night = 0; night < 100; night++) {
      nanos += Duration.ofHours(8).toNanos();
      assertThat(look(NEVER)).isEmpty();
    }
  }

  @Test
  void anOperatorThatEndsIsGivenUpAtTheThirdTime() throws Exception {
    assertThat(look(new SupervisedProcess.Ends(2, 1))).isEmpty();
    assertThat(look(new SupervisedProcess.Ends(3, 137)))
        .hasValue("the operator ended 3 times while it started, the last time with exit code 137");
  }

  @Test
  void theEndOfTheLogIsOfThisStartAndHasNoStackTrace() throws Exception {
    assertThat(log.end()).isEqualTo("(nothing)");
    write(
        """
        INFO one
        INFO two
        INFO three
        INFO four
        ERROR cannot start: java.lang.RuntimeException: Failed to start
        \tat io.quarkus.Application.start(Application.java:7)
        Caused by: java.net.BindException: Address already in use
        \tat java.base/sun.nio.ch.Net.bind0(Native Method)
        \t... 12 more

        """);
    assertThat(log.lines()).isEqualTo(10);
    assertThat(log.end().lines())
        .containsExactly(
            "INFO two",
            "INFO three",
            "INFO four",
            "ERROR cannot start: java.lang.RuntimeException: Failed to start",
            "Caused by: java.net.BindException: Address already in use");
  }
}
