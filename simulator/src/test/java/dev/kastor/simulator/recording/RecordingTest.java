package dev.kastor.simulator.recording;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.plugin.Selection;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveDocument.NodeDocument;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.live.RecordedJob;
import dev.kastor.scheduler.live.RecordedJob.End;
import dev.kastor.scheduler.live.RecordedJob.Held;
import dev.kastor.scheduler.live.RecordingDocument;
import dev.kastor.scheduler.live.RecordingDocument.NodeSpan;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.event.Resize;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.simulator.run.Conditions;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Recordings of jobs whose steps take a second each, so that each end is known by hand. */
final class RecordingTest {
  private static final Instant BEGIN = Instant.parse("2026-03-01T12:00:00Z");
  private static final double START = 15;

  /** Steps of a second, whatever trains them. */
  private static final GoodputModel FIXED =
      new GoodputModel(new ThroughputParams(1, 0, 0, 0, 0, 0, 1), new GradientStats(1, 0, 64));

  @TempDir private Path folder;

  private static String at(double seconds) {
    return BEGIN.plusMillis(Math.round(1000 * seconds)).toString();
  }

  private static JobState state(String name, Elasticity elasticity, double done, double total) {
    return state(name, elasticity, done, total, FIXED);
  }

  private static JobState state(
      String name, Elasticity elasticity, double done, double total, GoodputModel model) {
    return new JobState(
        new JobSpec(
                new JobId("team", name),
                BEGIN,
                elasticity,
                new BatchLimits(64, 64, 1, 64, true),
                "")
            .ofFamily("team/steps"),
        Allocation.NONE,
        Optional.of(model),
        1,
        done == 0 ? Optional.empty() : Optional.of(new Progress((long) done, done, total, 0, 0)),
        Duration.ZERO,
        0,
        0,
        Duration.ofSeconds(2),
        Duration.ofSeconds((long) START),
        Duration.ZERO,
        false,
        false,
        Outlook.NONE,
        Optional.empty());
  }

  private static RecordedJob job(
      JobState state, double arrived, @Nullable Double ended, End end, String... nodes) {
    return new RecordedJob(
        JobDocument.of(new LiveJob(state, false)),
        at(arrived),
        0,
        true,
        ended == null ? null : at(ended),
        end,
        nodes.length == 0 ? List.of() : List.of(held(arrived, nodes)),
        0,
        List.of());
  }

  private static Held held(double at, String... nodes) {
    Map<String, Integer> replicas = new LinkedHashMap<>();
    List.of(nodes).forEach(node -> replicas.put(node, 1));
    return new Held(at(at), replicas);
  }

  private static RecordedJob holding(RecordedJob job, Held... held) {
    return new RecordedJob(
        job.job(),
        job.arrived(),
        job.doneBefore(),
        job.whole(),
        job.ended(),
        job.end(),
        List.of(held),
        0,
        job.noise());
  }

  private static NodeSpan node(String name, double from, @Nullable Double until) {
    return new NodeSpan(
        NodeDocument.of(new Node(name, "t4", 1)), at(from), until == null ? null : at(until));
  }

  private static RecordingDocument document(List<NodeSpan> nodes, RecordedJob... jobs) {
    return new RecordingDocument(
        RecordingDocument.SCHEMA,
        at(-100),
        at(10_000),
        "fifo",
        1,
        "PT30S",
        "PT0.1S",
        List.of(),
        nodes,
        List.of(jobs),
        0);
  }

  private Path file(RecordingDocument document) throws IOException {
    return Files.writeString(
        folder.resolve("recording.json"), new ObjectMapper().writeValueAsString(document));
  }

  private Replay replay(RecordingDocument document, String policy) throws Exception {
    Path file = file(document);
    Recording recording = RecordingFile.read(file);
    Run run =
        new Run(
            Mode.EVENTS,
            file,
            file.toString(),
            recording.cluster(),
            Policies.BUILT_IN.choose(Selection.parse(policy)),
            1,
            recording.round(),
            1,
            Conditions.PLAIN.recorded(recording, true),
            true);
    return Simulate.prepare(List.of(run))
        .all(
            1,
            new RunListener() {
              @Override
              public void at(int index, double seconds, int done, int all) {}

              @Override
              public void finished(int index, Outcome outcome) {}
            })
        .getFirst()
        .replay();
  }

  private static final Elasticity ONE = new Elasticity.Rigid(1);

  /** Those that took longer than their model says, do so in the replay. */
  @Tag("slow")
  @Test
  void jobsDoTheWorkThatTheyDidAndNoMore() throws Exception {
    RecordingDocument document =
        document(
            List.of(node("n", -100, null)),
            job(state("whole", ONE, 99, 100), 0, 130.0, End.COMPLETED, "n"),
            job(state("early", ONE, 40, 100), 1000, 1060.0, End.COMPLETED, "n"),
            job(state("killed", ONE, 70, 100), 2000, 2085.0, End.KILLED, "n"),
            job(state("going", ONE, 50, 300), 3000, null, End.UNFINISHED, "n"));
    Replay replay = replay(document, "fifo");
    assertThat(replay.jobs())
        .extracting(done -> Math.round(done.completionSeconds()))
        .containsExactly(130L, 60L, 85L, 315L);
    assertThat(replay.jobs())
        .extracting(Replay.Completed::name)
        .containsExactly("team/whole", "team/early", "team/killed", "team/going");
  }

  @Tag("slow")
  @Test
  void saysHowFarItIsFromWhatHappened() throws Exception {
    RecordingDocument document =
        document(
            List.of(node("n", -100, null)),
            job(state("a", ONE, 100, 100), 0, 100.0, End.COMPLETED, "n"),
            job(state("b", ONE, 100, 100), 1000, 1430.0, End.COMPLETED, "n"),
            job(state("c", ONE, 100, 100), 2000, 2330.0, End.COMPLETED, "n"));
    Likeness likeness =
        RecordingFile.read(file(document)).likeness(replay(document, "fifo")).orElseThrow();
    // 100 s, and twice 215 s in the replay: nothing takes more than twice what its model says.
    assertThat(likeness.realMean()).isCloseTo((100 + 430 + 330) / 3.0, within(0.01));
    assertThat(likeness.replayedMean()).isCloseTo(530 / 3.0, within(0.2));
    assertThat(likeness.meanError()).isCloseTo(530.0 / 860 - 1, within(0.01));
    assertThat(likeness.medianError()).isCloseTo(115.0 / 330, within(0.01));
  }

  @Test
  void nodesComeAndGoAsTheyDid() throws Exception {
    RecordingDocument document =
        document(
            List.of(node("n", -100, null), node("m", -100, 30.0), node("o", 200, null)),
            job(state("a", ONE, 100, 100), 0, 115.0, End.COMPLETED, "n"),
            holding(
                job(state("b", ONE, 100, 100), 0, 215.0, End.COMPLETED),
                held(0, "m"),
                held(30),
                held(115, "n")));
    Recording recording = RecordingFile.read(file(document));
    assertThat(recording.cluster()).isEqualTo(ClusterShape.parse("t4=2x1"));
    assertThat(recording.resizes())
        .containsExactly(
            new Resize(Duration.ZERO, "t4", 2),
            new Resize(Duration.ofSeconds(30), "t4", 1),
            new Resize(Duration.ofSeconds(200), "t4", 2));
    Replay replay = replay(document, "fifo");
    // One of them loses its node after 15 s of training and gets the other's once that has ended.
    assertThat(replay.jobs().getFirst().completionSeconds()).isCloseTo(115, within(1.0));
    assertThat(replay.jobs().getLast().completionSeconds()).isCloseTo(215, within(1.0));
  }

  @Tag("slow")
  @Test
  void policiesMayResizeWhatWasElastic() throws Exception {
    Elasticity elastic = new Elasticity.Elastic(1, 2, new AllowedReplicas.Any());
    RecordingDocument document =
        document(
            List.of(node("n", -100, null), node("m", -100, null)),
            job(state("a", elastic, 100, 100), 0, 115.0, End.COMPLETED, "n"));
    assertThat(replay(document, "fifo").gpuHours() * 3600).isCloseTo(115, within(1.0));
    assertThat(replay(document, "kastor").jobs()).hasSize(1);
  }

  static List<String> policies() {
    return Policies.names();
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("policies")
  void everyPolicyReplaysAJobThatNamesNoTypeAndWasMeasuredOnOne(String policy) throws Exception {
    GoodputModel onOneType =
        new GoodputModel(
            new LinkedHashMap<>(Map.of("t4", new ThroughputParams(0, 1.0 / 64, 0, 0, 0, 0, 1))),
            new GradientStats(1, 0, 64));
    Elasticity elastic = new Elasticity.Elastic(1, 2, new AllowedReplicas.Any());
    RecordingDocument document =
        document(
            List.of(twoSlots()),
            job(state("a", elastic, 100, 100, onOneType), 0, 115.0, End.COMPLETED, "n"));
    double seconds = replay(document, policy).jobs().getFirst().completionSeconds();
    assertThat(seconds).isBetween(50.0, 130.0);
    if (policy.equals("optimus")) {
      assertThat(seconds).as("with two replicas").isLessThan(100);
    }
  }

  private static NodeSpan twoSlots() {
    return new NodeSpan(NodeDocument.of(new Node("n", "t4", 2)), at(-100), null);
  }

  @Test
  void aJobThatNobodyMeasuredIsAsLongAsItWas() throws Exception {
    JobState silent = state("silent", ONE, 0, 0);
    RecordingDocument document =
        document(List.of(node("n", -100, null)), job(silent, 0, 215.0, End.COMPLETED, "n"));
    assertThat(replay(document, "fifo").jobs().getFirst().completionSeconds())
        .isCloseTo(215, within(1.0));
  }

  @Tag("slow")
  @Test
  void whatCannotBeReplayedIsLeftOutAndSaid() throws Exception {
    RecordingDocument document =
        document(
            List.of(node("n", -100, null)),
            job(state("never", ONE, 0, 0), 0, 10.0, End.KILLED),
            job(state("twice", ONE, 100, 100), 0, 115.0, End.COMPLETED, "n"),
            job(state("twice", ONE, 100, 100), 500, 615.0, End.COMPLETED, "n"));
    Recording recording = RecordingFile.read(file(document));
    assertThat(recording.notes())
        .containsExactly("1 jobs that ended without ever running are left out.");
    assertThat(recording.workload("w").jobs())
        .extracting(job -> job.name())
        .containsExactly("team/twice", "team/twice#2");
    assertThatThrownBy(() -> RecordingFile.read(file(document(List.of()))))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("no job that ran or waits");
  }

  @Test
  void badFilesAreNamedWithTheirLine() throws Exception {
    Path file = Files.writeString(folder.resolve("bad.json"), "{\n\"schema\": nothing");
    assertThatThrownBy(() -> RecordingFile.read(file))
        .isInstanceOf(TraceException.class)
        .hasMessageContaining("bad.json, line 2");
    Files.writeString(file, "{\"schema\": \"kastor.dev/recording/v9\"}");
    assertThatThrownBy(() -> RecordingFile.read(file))
        .hasMessageContaining("must be kastor.dev/recording/v1 but is kastor.dev/recording/v9");
    assertThatThrownBy(() -> RecordingFile.read(folder.resolve("none.json")))
        .hasMessageContaining("does not exist");
  }
}
