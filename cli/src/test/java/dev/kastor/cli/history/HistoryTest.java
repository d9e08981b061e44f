package dev.kastor.cli.history;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.cli.FakeOperator;
import dev.kastor.cli.Terminal;
import dev.kastor.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HistoryTest {
  /** One stretch of two reports and one that lasts, without any; times in ms since 1970. */
  private static final String PAST =
      """
      {"namespace": "default", "name": "digits",
       "series": {"epochMillis": [1000, 2000], "loss": [1.5, 0.5], "throughput": [10, 20],
                  "goodput": [8, 12], "efficiency": [0.8, null], "globalBatch": [64, 128],
                  "replicas": [1, 1]},
       "timeline": [
         {"from": 500, "to": 61000, "replicas": 1, "nodes": {"n1": 1}, "reason": "Started",
          "message": "Its progress is worth the GPUs' price. Nobody else would gain from them."},
         {"from": 61000, "to": null, "replicas": 3, "nodes": {"n1": 2, "n2": 1},
          "reason": "Grown", "message": "More."}]}
      """;

  @TempDir Path folder;

  @Test
  void sumsUpWhatWasReportedInEachStretch() throws IOException {
    List<Stretch> stretches = Stretch.of(new ObjectMapper().readTree(PAST));
    assertThat(History.stretches(stretches, Instant.ofEpochMilli(121_000), 80))
        .containsExactly(
            "AGO    FOR  REPLICAS  BATCH   GOODPUT  WHY",
            "2m00s  60s  1         64-128  10.0     Started: Its progress is worth the GPUs'",
            "                                       price. Nobody else would gain from them.",
            "60s    60s  3         -       -        Grown: More.");
    assertThat(History.stretches(stretches, Instant.ofEpochMilli(121_000), 140).get(1))
        .isEqualTo(
            "2m00s  60s  1         64-128  10.0     0.800       0.500  Started: Its progress is"
                + " worth the GPUs' price. Nobody else would gain from them.");
  }

  @Tag("slow")
  @Test
  void showsAJobsPastAndThoseThatEnded() throws IOException {
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator =
            new FakeOperator().answer("/api/v1/jobs/default/digits/history", PAST)) {
      Path file = Files.writeString(folder.resolve("job.yaml"), Terminal.JOB);
      terminal.run("submit", "-f", file.toString());
      assertThat(terminal.run("history").out()).contains("no job has ended");
      JsonNode answer =
          new ObjectMapper()
              .readTree(
                  terminal
                      .run("history", "digits", "--operator", operator.url(), "-o", "json")
                      .out());
      assertThat(answer.at("/stretches/0/maxGlobalBatch").asInt()).isEqualTo(128);
      assertThat(answer.at("/stretches/1/replicas").asInt()).isEqualTo(3);
      assertThat(answer.at("/stretches/1").has("to")).isFalse();
      Terminal.Result without = terminal.run("history", "digits");
      assertThat(without.out()).contains("nothing is known of its past");
      assertThat(without.err()).contains("events alone");
      terminal.status(
          "digits",
          """
          phase: Failed
          completionTime: "2026-01-01T00:00:00Z"
          conditions: [{type: Failed, status: "True", reason: ProgramFailed, message: no data}]
          """);
      assertThat(terminal.run("history").out())
          .contains("TOOK")
          .containsPattern("digits +Failed .* - .*ProgramFailed: no data");
      assertThat(terminal.run("history", "-o", "name").out())
          .isEqualToIgnoringNewLines("trainingjob.kastor.dev/digits");
      assertThat(terminal.run("history", "none").code()).isEqualTo(ExitCode.NOT_FOUND);
    }
  }

  @Tag("slow")
  @Test
  void listsQueuesWithAndWithoutTheOperator() throws IOException {
    String queues =
        """
        [{"name": "", "weight": 1, "running": 1, "waiting": 0, "slotsHeld": 2, "slotsWanted": 4,
          "slotsDeserved": 2, "slotsTotal": 8},
         {"name": "research", "weight": 3, "running": 2, "waiting": 5, "slotsHeld": 6,
          "slotsWanted": 40, "slotsDeserved": 6, "slotsTotal": 8, "cohort": "all", "nominal": 4,
          "borrowed": 2, "lent": 0, "stopPolicy": "HOLD",
          "budget": 50.0, "budgetPeriod": "week", "budgetUsed": 12.5,
          "budgetUntil": "2026-01-05T00:00:00Z"}]
        """;
    try (Terminal terminal = new Terminal(folder);
        FakeOperator operator = new FakeOperator().answer("/api/v1/queues", queues)) {
      assertThat(terminal.run("queue", "ls", "--operator", operator.url()).out().lines())
          .containsExactly(
              "QUEUE            COHORT  WEIGHT  RUNNING  WAITING  GPUS  QUOTA  BORROWED  LENT  WANTED  DESERVED  OBTAINED           BUDGET",
              "(none)           -        1.000        1        0     2      -         -     -       4       25%       25%                -",
              "research (held)  all      3.000        2        5     6      4         2     0      40       75%       75%  12.5 of 50/week");
      JsonNode told =
          new ObjectMapper()
              .readTree(terminal.run("queue", "--operator", operator.url(), "-o", "json").out())
              .at("/queues/1");
      assertThat(told.path("quota").asInt()).isEqualTo(4);
      assertThat(told.has("borrowingLimit")).isFalse();
      Path file =
          Files.writeString(
              folder.resolve("job.yaml"), Terminal.JOB.replace("spec:", "spec:\n  queue: night"));
      terminal.run("submit", "-f", file.toString());
      Terminal.Result without = terminal.run("queue", "-o", "json");
      assertThat(without.err()).contains("weights and shares are not known");
      JsonNode queue = new ObjectMapper().readTree(without.out()).at("/queues/0");
      assertThat(queue.path("name").asText()).isEqualTo("night");
      assertThat(queue.path("waiting").asInt()).isEqualTo(1);
      assertThat(queue.path("slotsWanted").asInt()).isEqualTo(4);
      assertThat(queue.has("weight")).isFalse();
      assertThat(terminal.run("queue", "rm").code()).isEqualTo(ExitCode.USAGE);
    }
  }
}
