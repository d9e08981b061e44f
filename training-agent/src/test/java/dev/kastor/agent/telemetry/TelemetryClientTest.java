package dev.kastor.agent.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TelemetryClientTest {
  private static final Duration PATIENCE = Duration.ofMinutes(4);
  private static final JobId JOB = new JobId("team", "job");
  private static final Outcome DONE =
      new Outcome(Outcome.Kind.COMPLETED, null, "accuracy", 0.9, 0, "done");

  @TempDir Path folder;
  private FakeOperator operator;
  private OperatorConnection connection;
  private Path token;

  @BeforeEach
  void open() throws Exception {
    operator = new FakeOperator(JOB, TestCertificate.shared());
    token = Files.writeString(folder.resolve("token"), FakeOperator.token("job-0") + "\n");
    connection =
        new OperatorConnection(operator.uri(), JOB, token, operator.certificate().caFile());
  }

  @AfterEach
  void close() {
    connection.close();
    operator.close();
  }

  private TelemetryClient start(Duration interval) {
    return TelemetryClient.start(connection, Membership.PROTOCOL, JOB, "job-0", interval);
  }

  private static Switch change(long generation) {
    return new Switch(generation, 1, 2, Switch.Cause.RESCALE, 0.1);
  }

  @Tag("slow")
  @Test
  void losesNothingWhileTheOperatorIsAway() throws Exception {
    operator.away(true);
    try (TelemetryClient telemetry = start(Duration.ofMillis(5))) {
      telemetry.switched(change(1));
      telemetry.stepped(StepProfilerTest.sample(2, 8, 0.2, 0.1));
      assertThat(telemetry.finish(DONE, Duration.ZERO)).isFalse();
      telemetry.switched(change(2));
      telemetry.stepped(StepProfilerTest.sample(2, 8, 0.2, 0.1));
      operator.away(false);
      assertThat(telemetry.finish(DONE, PATIENCE)).isTrue();
    }
    List<TelemetryReport> reports = operator.reports();
    assertThat(reports.stream().flatMap(report -> report.switches().stream()))
        .extracting(Switch::generation)
        .containsExactly(1L, 2L);
    assertThat(reports.stream().flatMap(report -> report.profiles().stream()))
        .satisfies(profiles ->
            assertThat(profiles.stream().mapToInt(profile -> profile.steps()).sum()).isEqualTo(2));
    assertThat(reports).extracting(TelemetryReport::sequence).isSorted().doesNotHaveDuplicates();
    assertThat(reports.getLast().outcome()).isEqualTo(DONE);
    assertThat(reports).anySatisfy(report -> assertThat(report.trainingLoss()).isEqualTo(2.5));
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anOperatorOfAnOlderProtocolGetsNoFieldThatItDoesNotKnow(int protocol) throws Exception {
    try (TelemetryClient telemetry =
        TelemetryClient.start(connection, protocol, JOB, "job-0", Duration.ofHours(1))) {
      telemetry.evaluated("accuracy", 0.5);
      telemetry.unsaved(new IOException("disk full"));
      telemetry.stale(1);
      telemetry.dropped(1);
      telemetry.stepped(StepProfilerTest.sample(2, 8, 0.2, 0.1));
      telemetry.finish(DONE, PATIENCE);
    }
    TelemetryReport report = operator.reports().getLast();
    assertThat(report.scalars() != null).isEqualTo(protocol > 1);
    assertThat(report.unsaved() != null).isEqualTo(protocol > 1);
    assertThat(report.staleness() != null).isEqualTo(protocol > 1);
    assertThat(report.droppedCopies() != null).isEqualTo(protocol > 1);
    assertThat(report.outcome()).isEqualTo(DONE);
  }

  @Tag("slow")
  @Test
  void tellsASuccessorAllThatItMeasured() throws Exception {
    try (TelemetryClient telemetry = start(Duration.ofMillis(5))) {
      telemetry.stepped(StepProfilerTest.sample(2, 8, 0.2, 0.1));
      telemetry.stepped(StepProfilerTest.sample(3, 8, 0.2, 0.1));
      operator.await("all is told", () -> steps(operator.reports()) == 2);
      operator.succeededBy("2");
      telemetry.stepped(StepProfilerTest.sample(4, 8, 0.2, 0.1));
      operator.await("all is told again", () -> operator.reports().size() == 2);
      assertThat(steps(operator.reports().subList(0, 1))).as("only the news").isEqualTo(1);
      assertThat(operator.reports().get(1).profiles())
          .as("all, though there was no step in between")
          .extracting(StepProfile::replicas)
          .containsExactly(2, 3, 4);
      telemetry.stepped(StepProfilerTest.sample(4, 8, 0.2, 0.1));
      operator.await("the next comes", () -> operator.reports().size() == 3);
      assertThat(operator.reports().get(2).profiles()).hasSize(1);
    }
  }

  private static int steps(List<TelemetryReport> reports) {
    return reports.stream()
        .flatMap(report -> report.profiles().stream())
        .mapToInt(StepProfile::steps)
        .sum();
  }

  @Tag("slow")
  @Test
  void boundsWhatItKeeps() throws Exception {
    try (TelemetryClient telemetry = start(Duration.ofHours(1))) {
      for (int generation = 1; generation <= 1000; generation++) {
        telemetry.switched(change(generation));
        telemetry.stepped(StepProfilerTest.sample(2, generation, 0.2, 0.1));
      }
      assertThat(telemetry.finish(DONE, PATIENCE)).isTrue();
    }
    TelemetryReport report = operator.reports().getFirst();
    assertThat(report.switches()).hasSize(TelemetryReport.MAX_ENTRIES);
    assertThat(report.switches().getLast()).isEqualTo(change(1000));
    assertThat(WireJson.write(report).length).isLessThan(TelemetryReport.MAX_BYTES);
  }

  @Tag("slow")
  @Test
  void readsTheTokenAnewForEachReport() throws Exception {
    try (TelemetryClient telemetry = start(Duration.ofHours(1))) {
      Files.writeString(token, "expired");
      telemetry.stepped(StepProfilerTest.sample(1, 1, 1, 0));
      assertThat(telemetry.finish(DONE, Duration.ZERO)).isFalse();
      assertThat(operator.refused()).containsExactly("Bearer expired");
      Files.writeString(token, FakeOperator.token("job-0"));
      assertThat(telemetry.finish(DONE, PATIENCE)).isTrue();
    }
  }

  @Tag("slow")
  @Test
  void saysNothingUntilThereIsAStatus() throws Exception {
    try (TelemetryClient telemetry = start(Duration.ofMillis(1))) {
      assertThat(telemetry.finish(DONE, PATIENCE)).isTrue();
    }
    assertThat(operator.reports()).isEmpty();
  }

  @Tag("slow")
  @Test
  void terminationMessageIsTheOutcome() throws Exception {
    Path file = Files.writeString(folder.resolve("termination"), "older and longer".repeat(99));
    new TerminationLog(file).write(DONE);
    assertThat(WireJson.read(Files.readAllBytes(file), Outcome.class)).isEqualTo(DONE);
    assertThat(folder.resolve("termination.tmp")).doesNotExist();
  }
}
