package dev.kastor.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.agent.operator.WireJson;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Progress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes, killed with kill -9. */
class AgentIT {
  private static final BatchPlan PLAN = new BatchPlan(16, 0);

  @TempDir Path folder;
  private FakeOperator operator;
  private final List<AgentProcess> agents = new ArrayList<>();

  @BeforeEach
  void open() throws IOException {
    operator = new FakeOperator(AgentProcess.JOB, TestCertificate.shared());
  }

  @AfterEach
  void close() throws InterruptedException {
    for (AgentProcess agent : agents) {
      agent.kill();
    }
    operator.close();
  }

  static String spec(long steps, String parameters) {
    return """
    {"program": {"name": "glyph-mlp", "parameters": {%s}},
     "goodput": {"batchSize": {"initial": 16, "perDevice": {"min": 1, "max": 64}},
                 "learningRate": {"base": "0.02", "scaling": "AdaScale"},
                 "work": {"steps": %d}},
     "checkpoint": {"intervalSeconds": 1, "keepLast": 2}}
    """
        .formatted(parameters, steps);
  }

  static String small(long steps) {
    return spec(
        steps, "\"trainingExamples\": \"600\", \"heldOutExamples\": \"100\", \"hidden\": \"16\"");
  }

  private AgentProcess start(String pod, String spec) throws IOException {
    AgentProcess agent = AgentProcess.start(pod, operator, spec, folder);
    agents.add(agent);
    return agent;
  }

  @Test
  @Tag("never-retried")
  void survivesKillsLeavesStopsAndResumes() throws Exception {
    String endless = small(1L << 40);
    AgentProcess first = start("job-0", endless);
    AgentProcess second = start("job-1", endless);
    operator.want(PLAN, List.of("job-0", "job-1"));
    operator.await("two train", operator::settled);
    AgentProcess third = start("job-2", endless);
    AgentProcess fourth = start("job-3", endless);

    first.kill();
    operator.died(List.of("job-0"));
    operator.await("the survivor trains", operator::settled);
    operator.want(PLAN, List.of("job-1", "job-2", "job-3"));
    operator.await("three train", operator::settled);

    // A pod that is deleted gets a SIGTERM and a generation without it.
    fourth.terminate();
    operator.want(PLAN, List.of("job-1", "job-2"));
    assertThat(fourth.exitCode()).isZero();
    assertThat(fourth.outcome().kind()).isEqualTo(Outcome.Kind.LEFT);
    operator.await("two train again", operator::settled);

    operator.stop();
    assertThat(second.exitCode()).isZero();
    assertThat(third.exitCode()).isZero();
    Outcome stopped = second.outcome();
    assertThat(stopped.kind()).isEqualTo(Outcome.Kind.STOPPED);
    assertThat(stopped.lostOrRepeatedExamples()).isZero();
    assertThat(third.outcome()).isEqualTo(stopped);

    Progress progress = Objects.requireNonNull(stopped.progress());
    assertThat(progress.step()).isPositive();
    AgentProcess resumed = start("job-4", small((long) progress.scaleInvariantSteps() + 20));
    operator.want(PLAN, List.of("job-4"));
    assertThat(resumed.exitCode()).isZero();
    Outcome completed = resumed.outcome();
    assertThat(completed.kind()).isEqualTo(Outcome.Kind.COMPLETED);
    assertThat(completed.lostOrRepeatedExamples()).isZero();
    assertThat(completed.metricName()).isEqualTo("accuracy");
    assertThat(Objects.requireNonNull(completed.progress()).step())
        .isBetween(progress.step() + 19, progress.step() + 21);
    assertThat(operator.reports().getLast().outcome()).isEqualTo(completed);
    assertThat(
            operator.reports().stream()
                .flatMap(report -> report.scalarsOrNone().entrySet().stream())
                .toList()
                .getLast())
        .isEqualTo(Map.entry("held-out/accuracy", Objects.requireNonNull(completed.metric())));
  }

  @Test
  @Tag("never-retried")
  void serversAndWorkersAreKilledAndLoseNothing() throws Exception {
    String endless =
        small(1L << 40)
            .replaceFirst(
                "\\{", "{\"training\": {\"sync\": {\"parameter-server\": {\"servers\": 2}}}, ");
    List<String> servers = List.of("job-server-0", "job-server-1");
    for (int index = 0; index < 2; index++) {
      agents.add(AgentProcess.startServer(servers.get(index), operator, endless, folder, index));
    }
    operator.serve(servers);
    start("job-0", endless);
    start("job-1", endless);
    operator.want(PLAN, List.of("job-0", "job-1"));
    operator.await("two train", operator::settled);
    operator.await(
        "a checkpoint",
        () -> operator.reports().stream().anyMatch(each -> each.checkpoint() != null));

    agents.get(2).kill();
    operator.died(List.of("job-0"));
    operator.await("the survivor trains", operator::settled);

    agents.get(1).kill();
    agents.add(AgentProcess.startServer("job-server-2", operator, endless, folder, 1));
    operator.replaced(1, "job-server-2");
    operator.await("another server is there", operator::settled);
    int told = operator.reports().size();
    operator.await("it trains", () -> operator.reports().size() > told + 1);

    operator.stop();
    Outcome stopped = agents.getFirst().outcome();
    assertThat(stopped.kind()).as(stopped.message()).isEqualTo(Outcome.Kind.STOPPED);
    assertThat(stopped.lostOrRepeatedExamples()).isZero();
    assertThat(Objects.requireNonNull(stopped.progress()).step()).isPositive();
    assertThat(agents.getLast().outcome()).isEqualTo(stopped);
    assertThat(agents.get(3).outcome().kind()).isEqualTo(Outcome.Kind.STOPPED);
    assertThat(operator.reports().getLast().pod()).isEqualTo("job-server-0");
  }

  @Test
  void failsForGoodOnAWrongProgramParameter() throws Exception {
    AgentProcess agent = start("job-0", spec(10, "\"hidden\": \"many\""));
    assertThat(agent.exitCode()).isEqualTo(64);
    assertThat(agent.outcome().kind()).isEqualTo(Outcome.Kind.FAILED_PERMANENTLY);
    assertThat(agent.outcome().message()).contains("hidden").contains("many");
  }

  @Test
  void namesWhatTheEnvironmentLacks() throws Exception {
    AgentProcess agent = AgentProcess.start("job-0", folder, Map.of("KASTOR_JOB", "job"));
    agents.add(agent);
    assertThat(agent.exitCode()).isEqualTo(64);
    assertThat(agent.log())
        .contains("KASTOR_OPERATOR_URL is not set")
        .doesNotContain("KASTOR_JOB ");
  }

  @Test
  void strangersFillNoDisk() throws Exception {
    AgentProcess agent = start("job-0", small(1L << 40));
    operator.want(PLAN, List.of("job-0"));
    operator.await("it trains", operator::settled);
    String address = operator.current().members().getFirst().address();
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    for (int i = 0; i < 300; i++) {
      try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
        stranger.getOutputStream().write(1);
      }
    }
    operator.stop();
    assertThat(agent.exitCode()).isZero();
    assertThat(agent.log().lines().filter(line -> line.contains("ring connection")))
        .hasSizeBetween(1, 2);
  }

  @Test
  void endsWithItsParent() throws Exception {
    AgentProcess agent = start("job-0", small(10));
    operator.await("it polls", () -> operator.heardOf("job-0"));
    agent.abandon();
    assertThat(agent.exitCode()).isEqualTo(143);
  }

  @Test
  void aSpareBecomesTheReplicaWhoseEnvironmentItIsGiven() throws Exception {
    AgentProcess spare = AgentProcess.startSpare("spare", folder);
    agents.add(spare);
    Map<String, String> replica =
        AgentProcess.environment("job-0", operator, small(1L << 40), folder);
    AgentProcess other = start("job-1", small(1L << 40));

    spare.become(replica);
    operator.want(PLAN, List.of("job-0", "job-1"));
    operator.await("both train", operator::settled);
    operator.stop();

    assertThat(spare.exitCode()).isZero();
    assertThat(other.outcome().lostOrRepeatedExamples()).isZero();
    assertThat(
            WireJson.read(
                Files.readAllBytes(
                    Path.of(Objects.requireNonNull(replica.get("KASTOR_TERMINATION_LOG")))),
                Outcome.class))
        .isEqualTo(other.outcome());
  }

  @Test
  void aReplicaThatWasASpareEndsWithItsParent() throws Exception {
    AgentProcess spare = AgentProcess.startSpare("spare", folder);
    agents.add(spare);
    spare.become(AgentProcess.environment("job-0", operator, small(10), folder));
    operator.await("it polls", () -> operator.heardOf("job-0"));
    spare.abandon();
    assertThat(spare.exitCode()).isEqualTo(143);
  }

  @Test
  void aSpareWithoutAPodEnds() throws Exception {
    AgentProcess spare = AgentProcess.startSpare("spare", folder);
    agents.add(spare);
    spare.abandon();
    assertThat(spare.exitCode()).isZero();
    assertThat(spare.log()).doesNotContain("KASTOR_");
  }
}
