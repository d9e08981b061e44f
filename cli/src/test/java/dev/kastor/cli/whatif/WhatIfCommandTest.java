package dev.kastor.cli.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers from an operator that tells of one GPU, one job that runs and one that waits. */
final class WhatIfCommandTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;
  private FakeOperator operator;
  private Terminal terminal;
  private Path job;

  @BeforeEach
  void begin() throws IOException {
    job = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
    terminal = new Terminal(folder);
    operator =
        new FakeOperator()
            .answer(
                "/api/v1/snapshot",
                JSON.writeValueAsString(
                    LiveDocument.of(
                        new LiveCluster(
                            NOW,
                            "fifo",
                            1,
                            Duration.ofSeconds(30),
                            Duration.ofMillis(100),
                            List.of(new Node("n0", "t4", 1)),
                            Map.of("research", new Queue("research")),
                            List.of(
                                job("bert", Allocation.on("n0", 1), 1000),
                                job("gpt", Allocation.NONE, 500)),
                            0))))
            .answer(
                "/api/v1/snapshot/job",
                JSON.writeValueAsString(JobDocument.of(job("digits", Allocation.NONE, 200))));
  }

  @AfterEach
  void end() {
    operator.close();
    terminal.close();
  }

  /** A rigid job whose steps take a second. */
  private static LiveJob job(String name, Allocation allocation, double left) {
    boolean runs = !allocation.isEmpty();
    Duration minute = runs ? Duration.ofSeconds(60) : Duration.ZERO;
    return new LiveJob(
        new JobState(
            new JobSpec(
                    new JobId("default", name),
                    NOW.minusSeconds(600),
                    new Elasticity.Rigid(1),
                    new BatchLimits(64, 64, 1, 64, true),
                    "")
                .declaring(100 + left),
            allocation,
            Optional.of(
                new GoodputModel(
                    new ThroughputParams(1, 0, 0, 0, 0, 0, 1), new GradientStats(1, 0, 64))),
            1,
            Optional.of(new Progress(100, 100, 100 + left, 6400, 0)),
            Duration.ofMinutes(10),
            runs ? 60 : 0,
            0,
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ofSeconds(15),
            minute,
            minute,
            false,
            false,
            Outlook.NONE,
            Optional.empty()),
        false);
  }

  private Terminal.Result whatIf(String... arguments) {
    return terminal.run(
        "whatif",
        Stream.concat(Stream.of("--operator", operator.url()), Stream.of(arguments))
            .toArray(String[]::new));
  }

  @Tag("slow")
  @Test
  void saysWhenAJobMoreWouldStartAndEnd() {
    Terminal.Result result = whatIf("--add", job.toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    // 1000 s of bert, 15 and 500 of gpt, then its own 15 and 200.
    assertThat(result.out().lines())
        .startsWith(
            "default/digits would start in 25m15s with 1 replica and end in 28m50s. The others end"
                + " as before.",
            "",
            "JOB             STARTS IN  THEN    ENDS IN  THEN    CHANGE")
        .anyMatch(line -> line.matches("default/digits +25m15s +28m50s +added"))
        .anyMatch(line -> line.matches("default/bert +runs +runs +16m40s +16m40s +-"))
        .anyMatch(line -> line.startsWith("Assumed: no other job comes"));
    assertThat(terminal.run("ls").out()).as("nothing was submitted").doesNotContain("digits");
  }

  @Tag("slow")
  @Test
  void saysWhomANodeMoreHelpsAndByHowMuch() throws IOException {
    Terminal.Result result = whatIf("--nodes", "+1xt4", "-o", "json");
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    JsonNode answer = JSON.readTree(result.out());
    assertThat(answer.path("sentence").asText())
        .isEqualTo(
            "With 1 t4 node more: jobs end in 12m37s on average instead of 20m57s. 1 of 2 jobs ends"
                + " sooner, default/gpt by 16m40s.");
    assertThat(answer.path("changes").path(0).asText()).isEqualTo("1 t4 node more");
    assertThat(answer.path("jobs").path(1).path("name").asText()).isEqualTo("gpt");
    assertThat(answer.path("jobs").path(1).path("laterSeconds").asDouble())
        .isBetween(-1000.5, -999.5);
    assertThat(answer.path("policy").asText()).isEqualTo("fifo");
    assertThat(whatIf("--nodes", "+1", "-o", "name").out().strip()).isEqualTo("default/gpt");
  }

  @Tag("slow")
  @Test
  void withoutAChangeItSaysWhenJobsEnd() {
    Terminal.Result result = whatIf();
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    assertThat(result.out())
        .startsWith("As things are, jobs end in 20m57s on average, the last in 25m15s.");
  }

  @Tag("slow")
  @Test
  void severalChangesAreOneQuestion() {
    Terminal.Result result =
        whatIf("--policy", "srtf", "--priority", "gpt=3", "--nodes", "+1", "--add", job.toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    assertThat(result.out())
        .startsWith("With policy srtf and 1 t4 node more and priority 3 for job default/gpt:");
  }

  @Tag("slow")
  @Test
  void wrongChangesNameWhatThereIs() throws IOException {
    for (String[] wrong :
        new String[][] {
          {"--nodes", "2xt4", "sign"},
          {"--nodes", "+2xh100", "t4"},
          {"--nodes", "+0xt4", "nothing"},
          {"--queue", "research", "research=8"},
          {"--queue", "ml=3", "research"},
          {"--priority", "bert", "bert=10"},
          {"--priority", "albert=1", "default/bert, default/gpt"},
          {"--policy", "nonsense", "kastor"},
          {"--policy", "kastor:no=1", "hold"},
          {"--unknown", "-1", "above 0"},
        }) {
      Terminal.Result result = whatIf(wrong[0], wrong[1]);
      assertThat(result.code()).as("%s %s", wrong[0], wrong[1]).isEqualTo(ExitCode.USAGE);
      assertThat(result.err()).contains(wrong[2]);
    }
    Path bad = Files.writeString(folder.resolve("bad.yaml"), Terminal.JOB.replace("64", "0"));
    assertThat(whatIf("--add", bad.toString()).err()).contains("bad.yaml:").contains("initial");
  }

  @Tag("slow")
  @Test
  void refusesWrongTextsBeforeItAsks() {
    for (String[] wrong :
        new String[][] {
          {"--nodes", "two", "sign"},
          {"--nodes", "+0", "nothing"},
          {"--queue", "research", "research=8"},
          {"--priority", "bert=high", "bert=10"},
          {"--policy", "nonsense", "kastor"},
        }) {
      Terminal.Result result =
          terminal.run("whatif", "--operator", "http://localhost:1", wrong[0], wrong[1]);
      assertThat(result.code()).as("%s %s", wrong[0], wrong[1]).isEqualTo(ExitCode.USAGE);
      assertThat(result.err()).contains(wrong[2]).doesNotContain("localhost:1");
    }
  }

  @Tag("slow")
  @Test
  void withoutItsOperatorItSaysSo() throws IOException {
    Terminal.Result result = terminal.run("whatif");
    assertThat(result.code()).isEqualTo(ExitCode.FAILED);
    assertThat(result.err()).contains("whatif needs the operator");
    try (FakeOperator older = new FakeOperator()) {
      assertThat(terminal.run("whatif", "--operator", older.url()).err()).contains("older");
    }
  }
}
