package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.checkpoint.OtherCheckpoints;
import dev.kastor.engine.optim.AdaScale;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.TelemetryReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class WarmStartTest {
  private static final BatchPlan PLAN = new BatchPlan(8, 0);

  /** Of the model with one value of momentum for each parameter. */
  private static final List<Section.Form> MODEL =
      state(
              0,
              new float[LinearModel.FEATURES],
              new float[3],
              Section.of("optimizer.sgd.velocity", new float[LinearModel.FEATURES]))
          .forms();

  private static final Duration NEVER = Duration.ofHours(1);
  private static final Duration OFTEN = Duration.ofMillis(50);

  @TempDir Path folder;
  private Path others;
  private FakeOperator operator;
  private final List<TestReplica> replicas = new ArrayList<>();
  private int started;

  @BeforeEach
  void open() throws IOException {
    others = folder.resolve("others");
    operator = new FakeOperator(TestReplica.JOB, TestCertificate.shared());
  }

  @AfterEach
  void close() throws InterruptedException {
    for (TestReplica replica : replicas) {
      replica.kill();
    }
    operator.close();
  }

  @Test
  @Tag("never-retried")
  void theFirstStepIsThatOfTheOtherJobsParametersAndAllCountersBeginAtZero() throws Exception {
    save(5_000, 1);
    start(2, new Work.Steps(30), NEVER, readable(OptionalLong.empty()));
    operator.want(PLAN, replicas.stream().map(TestReplica::pod).toList());
    for (TestReplica replica : replicas) {
      assertThat(replica.outcome().kind()).isEqualTo(Outcome.Kind.COMPLETED);
      assertThat(replica.outcome().lostOrRepeatedExamples()).isZero();
      assertThat(replica.model().parameters()).isEqualTo(replicas.getFirst().model().parameters());
    }
    assertThat(step()).isEqualTo(30);
    TrainingState begun = checkpoints().load(0, MODEL);
    assertThat(begun.step()).isZero();
    assertThat(begun.section(TrainingState.SCALE_INVARIANT_STEPS).doubles()).containsOnly(0);
    assertThat(begun.section(TrainingState.CURSOR).longs()).containsOnly(0);
    assertThat(begun.section(TrainingState.PARAMETERS).floats()).containsOnly(1f);
    assertThat(begun.section(TrainingState.STATISTICS).floats()).containsOnly(2f);
    assertThat(begun.section("optimizer.sgd.velocity").floats()).containsOnly(0f);
  }

  @Test
  void aRestartGoesOnFromTheJobsOwnCheckpoint() throws Exception {
    save(100, 1);
    // Two, as one alone waits for nobody and so never learns that it is to end.
    start(2, new Work.Steps(1L << 40), OFTEN, readable(OptionalLong.of(100)));
    operator.want(PLAN, replicas.stream().map(TestReplica::pod).toList());
    operator.await("a checkpoint of its own", () -> step() > 0 && newestStep() > 0);
    for (TestReplica replica : replicas) {
      replica.kill();
    }
    remove(others);
    replicas.clear();
    long at = newestStep();
    TestReplica next =
        start(1, new Work.Steps(at + 20), OFTEN, readable(OptionalLong.of(100))).getFirst();
    operator.want(PLAN, List.of(next.pod()));
    assertThat(next.outcome().kind()).isEqualTo(Outcome.Kind.COMPLETED);
    assertThat(Objects.requireNonNull(next.outcome().progress()).step()).isGreaterThan(at);
    assertThat(next.outcome().lostOrRepeatedExamples()).isZero();
  }

  @Test
  void whatCannotHelpEndsTheJobWithTheReason() throws Exception {
    assertThat(refused(readable(OptionalLong.empty()))).contains("it has saved none yet");
    save(7, 1);
    assertThat(refused(readable(OptionalLong.of(8))))
        .isEqualTo(
            "spec.checkpoint.warmStart: the parameters of job other cannot be taken: it has no"
                + " checkpoint of step 8 but of 7.");
    new CheckpointStore(others, "other-uid", 3, InstantSource.system())
        .save(otherState(9, new float[4], new float[3]));
    assertThat(refused(readable(OptionalLong.empty())))
        .contains("it holds parameters (4) and the model parameters (37)")
        .contains("(glyph-cnn there, linear here)");
    assertThat(
            refused(
                new WarmStart.Source.Absent("there is no such TrainingJob"), OptionalLong.empty()))
        .contains("job other cannot be taken: there is no such TrainingJob.");
    assertThat(checkpoints().steps()).isEmpty();
  }

  private String refused(Optional<WarmStart> warmStart) throws Exception {
    TestReplica replica = start(1, new Work.Steps(10), NEVER, warmStart).getFirst();
    operator.want(PLAN, List.of(replica.pod()));
    Outcome outcome = replica.outcome();
    assertThat(outcome.kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
    return outcome.message();
  }

  private String refused(WarmStart.Source source, OptionalLong step) throws Exception {
    return refused(Optional.of(new WarmStart("other", step, source, "linear")));
  }

  private Optional<WarmStart> readable(OptionalLong step) {
    return Optional.of(
        new WarmStart(
            "other",
            step,
            new WarmStart.Source.Found(new OtherCheckpoints(others, "other-uid"), "glyph-cnn"),
            "linear"));
  }

  private List<TestReplica> start(
      int count, Work work, Duration saves, Optional<WarmStart> warmStart) {
    TrainingSettings settings =
        new TrainingSettings(16, 0.0001, new AdaScale(), work, 5, saves, Duration.ofSeconds(10));
    List<TestReplica> added = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      added.add(TestReplica.start("job-" + started++, operator, settings, folder, warmStart));
    }
    replicas.addAll(added);
    return added;
  }

  private long step() {
    List<TelemetryReport> reports = operator.reports();
    return reports.isEmpty() ? 0 : reports.getLast().progress().step();
  }

  private void save(long step, float value) throws IOException {
    float[] parameters = new float[LinearModel.FEATURES];
    Arrays.fill(parameters, value);
    float[] statistics = new float[3];
    Arrays.fill(statistics, 2 * value);
    new CheckpointStore(others, "other-uid", 3, InstantSource.system())
        .save(otherState(step, parameters, statistics));
  }

  private static TrainingState otherState(long step, float[] parameters, float[] statistics) {
    // Another optimizer's state, longer than the one at hand: it is not looked at.
    float[] optimizer = new float[3 * parameters.length];
    Arrays.fill(optimizer, 9);
    return state(step, parameters, statistics, Section.of("optimizer.other.slot", optimizer));
  }

  private static TrainingState state(
      long step, float[] parameters, float[] statistics, Section optimizer) {
    return new TrainingState(
        List.of(
            Section.of(TrainingState.STEP, step),
            Section.of(TrainingState.SCALE_INVARIANT_STEPS, (double) step),
            Section.of(TrainingState.CURSOR, step),
            Section.of(TrainingState.AUDIT, step, step),
            Section.of(TrainingState.PARAMETERS, parameters),
            optimizer,
            Section.of(TrainingState.STATISTICS, statistics),
            Section.of(TrainingState.NOISE, new double[4])));
  }

  private CheckpointStore checkpoints() throws IOException {
    return new CheckpointStore(folder.resolve("checkpoints"), "uid", 3, InstantSource.system());
  }

  private long newestStep() {
    try {
      return checkpoints().steps().getFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
