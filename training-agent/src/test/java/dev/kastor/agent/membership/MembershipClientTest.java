package dev.kastor.agent.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.agent.operator.FakeOperator;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.operator.TestCertificate;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ReplicaState.Phase;
import dev.kastor.scheduler.model.JobId;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MembershipClientTest {
  private static final JobId JOB = new JobId("team", "job");
  private static final Duration PATIENCE = Duration.ofMinutes(4);

  /** A poll that does not end by itself while a test waits for something. */
  private static final Duration LONG_POLL = PATIENCE.multipliedBy(2);

  @TempDir Path folder;
  private FakeOperator operator;
  private OperatorConnection connection;

  @BeforeEach
  void open() throws Exception {
    operator = new FakeOperator(JOB, TestCertificate.shared());
    Path token = Files.writeString(folder.resolve("token"), FakeOperator.token("job-0"));
    connection =
        new OperatorConnection(operator.uri(), JOB, token, operator.certificate().caFile());
  }

  @AfterEach
  void close() {
    connection.close();
    operator.close();
  }

  private MembershipClient start() {
    return MembershipClient.start(connection, JOB, new LocalReplica("job-0", "127.0.0.1:7"));
  }

  private MembershipClient startWithLongPolls() {
    return MembershipClient.start(
        connection, JOB, new LocalReplica("job-0", "127.0.0.1:7"), LONG_POLL);
  }

  @Tag("slow")
  @Test
  void becomesAMemberAsSoonAsItIsReady() throws Exception {
    operator.want(new BatchPlan(8, 1), List.of("job-0"));
    try (MembershipClient memberships = startWithLongPolls()) {
      operator.await("the first poll", () -> operator.heardOf("job-0"));
      assertThat(operator.current().generation()).isZero();
      assertThat(operator.client("job-0")).matches("kastor-java/\\S+ protocol/2 java/\\d+");
      // A poll of the earlier phase must not delay this.
      memberships.moved(0, Phase.READY);
      Membership membership =
          memberships.await(m -> m.action() == Action.RUN, PATIENCE).orElseThrow();
      assertThat(membership.members())
          .containsExactly(new Member("job-0", 0, "127.0.0.1:7", "node-job-0"));
      assertThat(membership.batchPlan()).isEqualTo(new BatchPlan(8, 1));
    }
  }

  @Tag("slow")
  @Test
  void needsNoNewConnectionForEachChange() throws Exception {
    operator.want(new BatchPlan(8, 0), List.of("job-0"));
    try (MembershipClient memberships = start()) {
      memberships.moved(0, Phase.READY);
      for (int generation = 1; generation <= 10; generation++) {
        long wanted = generation;
        assertThat(memberships.await(m -> m.generation() == wanted, PATIENCE)).isPresent();
        memberships.moved(generation, Phase.TRAINING);
        operator.await("it trains", operator::settled);
        operator.want(new BatchPlan(8, 0), List.of("job-0"));
      }
    }
    // One to ask again while the other waits for its answer; a third if that comes late.
    assertThat(operator.connections()).isBetween(1, 3);
  }

  @Test
  void asksAtOnceWhenToldTo() throws Exception {
    try (MembershipClient memberships = startWithLongPolls()) {
      memberships.moved(0, Phase.READY);
      operator.await("a poll that is kept", () -> operator.keeps("job-0", Phase.READY));
      int before = operator.polls("job-0");
      memberships.askNow();
      operator.await("another poll", () -> operator.polls("job-0") > before);
    }
  }

  @Tag("slow")
  @Test
  void keepsTheNewestWhileTheOperatorIsAwayAndCatchesUp() throws Exception {
    operator.want(new BatchPlan(8, 0), List.of("job-0"));
    try (MembershipClient memberships = start()) {
      memberships.moved(0, Phase.READY);
      Membership first = memberships.await(m -> m.action() == Action.RUN, PATIENCE).orElseThrow();
      memberships.moved(first.generation(), Phase.TRAINING);
      operator.await("it trains", operator::settled);
      operator.away(true);
      operator.want(new BatchPlan(16, 0), List.of("job-0"));
      assertThat(memberships.newest()).contains(first);
      operator.away(false);
      Membership second =
          memberships.await(m -> m.generation() > first.generation(), PATIENCE).orElseThrow();
      assertThat(second.batchPlan().atomicBatchSize()).isEqualTo(16);
    }
  }

  @Test
  void waitsNoLongerThanAsked() throws Exception {
    try (MembershipClient memberships = start()) {
      assertThat(memberships.await(m -> m.action() == Action.STOP, Duration.ofMillis(10)))
          .isEmpty();
    }
  }

  @Test
  void knowsWhenTheJobIsGone() throws Exception {
    JobId gone = new JobId("team", "gone");
    Path token = folder.resolve("token");
    try (OperatorConnection other =
            new OperatorConnection(operator.uri(), gone, token, operator.certificate().caFile());
        MembershipClient memberships =
            MembershipClient.start(other, gone, new LocalReplica("job-0", "127.0.0.1:7"))) {
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (!memberships.jobGone()) {
        assertThat(System.nanoTime()).as("within %s", PATIENCE).isLessThan(end);
        Thread.sleep(1);
      }
      assertThat(memberships.newest()).isEmpty();
    }
  }
}
