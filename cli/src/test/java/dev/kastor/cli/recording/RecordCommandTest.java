package dev.kastor.cli.recording;

import static org.assertj.core.api.Assertions.assertThat;

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
import dev.kastor.scheduler.live.LiveDocument.NodeDocument;
import dev.kastor.scheduler.live.LiveDocument.QueueDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.scheduler.live.RecordingDocument.Named;
import dev.kastor.scheduler.live.RecordingDocument.NodeSpan;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording of three jobs, one after the other on one GPU, fetched and replayed. */
final class RecordCommandTest {
  private static final Instant BEGIN = Instant.parse("2026-03-01T12:00:00Z");
  private static final int STEPS = 100;

  @TempDir private Path folder;
  private FakeOperator operator;
  private Terminal terminal;

  @BeforeEach
  void begin() throws IOException {
    terminal = new Terminal(folder);
    operator =
        new FakeOperator()
            .answer("/api/v1/recording", new ObjectMapper().writeValueAsString(recording()));
  }

  @AfterEach
  void end() {
    operator.close();
    terminal.close();
  }

  /**
   * Jobs of a hundred steps of a second that took 430 s each, of which 15 s are their start: more
   * than a replay believes.
   */
  private static RecordingDocument recording() {
    return new RecordingDocument(
        RecordingDocument.SCHEMA,
        BEGIN.toString(),
        BEGIN.plusSeconds(4000).toString(),
        "fifo",
        1,
        "PT30S",
        "PT0.1S",
        QueueDocument.of(Map.of("secret-queue", new Queue("secret-queue", 2))),
        List.of(
            new NodeSpan(
                NodeDocument.of(new Node("secret-node", "t4", 1)), BEGIN.toString(), null)),
        IntStream.range(0, 3).mapToObj(RecordCommandTest::job).toList(),
        0);
  }

  private static RecordedJob job(int number) {
    Instant arrived = BEGIN.plusSeconds(1000L * number);
    JobState state =
        new JobState(
            new JobSpec(
                    new JobId("secret-team", "secret-" + number),
                    arrived,
                    new Elasticity.Rigid(1),
                    new BatchLimits(64, 64, 1, 64, true),
                    "")
                .ofFamily("secret-team/secret-family")
                .queued("secret-queue", 0)
                .declaring(STEPS),
            Allocation.on("secret-node", 1),
            Optional.of(
                new GoodputModel(
                    new ThroughputParams(1, 0, 0, 0, 0, 0, 1), new GradientStats(1, 0, 64))),
            1,
            Optional.of(new Progress(STEPS, STEPS, STEPS, 6400, 0)),
            Duration.ZERO,
            0,
            0,
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ZERO,
            false,
            false,
            Outlook.NONE,
            Optional.empty());
    return new RecordedJob(
        JobDocument.of(new LiveJob(state, false)),
        arrived.toString(),
        0,
        true,
        arrived.plusSeconds(430).toString(),
        RecordedJob.End.COMPLETED,
        List.of(new RecordedJob.Held(arrived.toString(), Map.of("secret-node", 1))),
        0,
        List.of());
  }

  private Path fetched(String... more) {
    Path file = folder.resolve("recording.json");
    String[] all = new String[more.length + 4];
    all[0] = "--operator";
    all[1] = operator.url();
    all[2] = "-o";
    all[3] = file.toString();
    System.arraycopy(more, 0, all, 4, more.length);
    Terminal.Result result = terminal.run("record", all);
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    assertThat(result.out())
        .startsWith("3 jobs from 2026-03-01T12:00:00Z to 2026-03-01T13:06:40Z in " + file);
    return file;
  }

  @Tag("slow")
  @Test
  void noNameOfAUserIsInTheFileUnlessWanted() throws IOException {
    String hidden = Files.readString(fetched());
    assertThat(hidden).doesNotContain("secret");
    assertThat(Files.readString(fetched())).as("the same pseudonyms").isEqualTo(hidden);
    assertThat(Files.readString(fetched("--names")))
        .contains("secret-team", "secret-1", "secret-family", "secret-queue", "secret-node");
  }

  @Tag("slow")
  @Test
  void pseudonymsDependOnNameAndKeyAlone() throws IOException {
    Pseudonyms one = Pseudonyms.ofKey(folder.resolve("one/recording.key"));
    Pseudonyms same = Pseudonyms.ofKey(folder.resolve("one/recording.key"));
    Pseudonyms other = Pseudonyms.ofKey(folder.resolve("other.key"));
    assertThat(one.of(Named.JOB, "a")).matches("job-[0-9a-f]{10}");
    assertThat(same.of(Named.JOB, "a")).isEqualTo(one.of(Named.JOB, "a"));
    assertThat(other.of(Named.JOB, "a")).isNotEqualTo(one.of(Named.JOB, "a"));
    assertThat(one.of(Named.JOB, "b")).isNotEqualTo(one.of(Named.JOB, "a"));
  }

  @Tag("slow")
  @Test
  void theReplayOfWhatRanSaysHowFarItIsFromIt() {
    Terminal.Result result =
        Terminal.runPlain("simulate", "--quiet", "--recording", fetched().toString());
    assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
    // 215 s each: no step takes more than twice what its model says.
    assertThat(result.out())
        .contains("3 jobs on t4=1x1, mode events, seed 1")
        .containsPattern("fifo +215 s")
        .contains(
            "What happened: mean JCT 430 s of the 3 jobs that were recorded whole. The replay has"
                + " 215 s of the same jobs (-50.0 %); half of them are within 50.0 % of what happened.");
  }

  @Tag("slow")
  @Test
  void otherPoliciesAndClustersAreNotComparedWithWhatHappened() {
    String file = fetched().toString();
    Terminal.Result policies =
        Terminal.runPlain(
            "simulate", "--quiet", "--recording", file, "--policy", "kastor,srtf,tiresias");
    assertThat(policies.code()).as(policies.err()).isEqualTo(ExitCode.OK);
    assertThat(policies.out()).contains("kastor", "srtf").doesNotContain("What happened");
    Terminal.Result cluster =
        Terminal.runPlain("simulate", "--quiet", "--recording", file, "--cluster", "2x2");
    assertThat(cluster.code()).as(cluster.err()).isEqualTo(ExitCode.OK);
    assertThat(cluster.out()).contains("on 2x2").doesNotContain("What happened");
  }

  @Tag("slow")
  @Test
  void saysWhatIsWrong() throws IOException {
    Terminal.Result both =
        Terminal.runPlain(
            "simulate", "--recording", fetched().toString(), "--workload", "other.csv");
    assertThat(both.code()).isEqualTo(ExitCode.USAGE);
    assertThat(both.err()).contains("Leave out --workload, --profiles and --mode");
    Path bad = Files.writeString(folder.resolve("bad.json"), "name,submitSeconds\n");
    Terminal.Result wrong = Terminal.runPlain("simulate", "--recording", bad.toString());
    assertThat(wrong.code()).isEqualTo(ExitCode.USAGE);
    assertThat(wrong.err()).contains("bad.json", "kastor record");
    try (FakeOperator old = new FakeOperator()) {
      Terminal.Result none = terminal.run("record", "--operator", old.url());
      assertThat(none.code()).isEqualTo(ExitCode.FAILED);
      assertThat(none.err()).contains("older than this command");
    }
  }
}
