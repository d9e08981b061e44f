package dev.kastor.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.cluster.QuotaGate.Holding;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.Change;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.Queue;
import dev.kastor.scheduler.Quota;
import dev.kastor.scheduler.Quotas;
import dev.kastor.scheduler.Reason;
import dev.kastor.scheduler.StopPolicy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class QuotaGateTest {
  private static final Reason WHY = Reason.of("Test", "The test wants it so.");
  private static final JobId BORROWER = new JobId("team", "borrower");
  private static final JobId LENDER = new JobId("team", "lender");
  private static final JobId FREE = new JobId("team", "free");

  private static Queue queue(String name) {
    return new Queue(name, 1, "c", Optional.of(new Quota(2)), StopPolicy.NONE);
  }

  private static QuotaGate gate(int borrowed) {
    return new QuotaGate(
        Quotas.of(Map.of("red", queue("red"), "blue", queue("blue"))),
        Map.of(
            BORROWER, new Holding("red", borrowed),
            LENDER, new Holding("blue", 0),
            FREE, new Holding("", 0)));
  }

  private static Change start(JobId job, int replicas) {
    return new Change.Start(job, Allocation.on("n1", replicas), WHY);
  }

  @Test
  void whoTakesBackWaitsForThoseWhoLeave() {
    Change shrink =
        new Change.Rescale(BORROWER, Allocation.on("n1", 4), Allocation.on("n1", 2), WHY);
    assertThat(gate(4).open(List.of(shrink, start(LENDER, 2), start(FREE, 8))))
        .containsExactly(shrink, start(FREE, 8));
    assertThat(gate(3).open(List.of(start(LENDER, 2)))).isEmpty();
    assertThat(gate(2).open(List.of(start(LENDER, 2)))).hasSize(1);
  }

  @Test
  void stopsAndMovesAlwaysPass() {
    Change stop = new Change.Stop(BORROWER, Allocation.on("n1", 4), WHY);
    Change move = new Change.Migrate(BORROWER, Allocation.on("n1", 4), Allocation.on("n2", 4), WHY);
    assertThat(gate(6).open(List.of(stop))).containsExactly(stop);
    assertThat(gate(6).open(List.of(move))).containsExactly(move);
  }

  @Test
  void changesOfOneRoundShareTheRoom() {
    QuotaGate gate =
        new QuotaGate(
            Quotas.of(Map.of("red", queue("red"))),
            Map.of(BORROWER, new Holding("red", 0), LENDER, new Holding("red", 0)));
    assertThat(gate.open(List.of(start(BORROWER, 1), start(LENDER, 2)))).hasSize(1);
  }
}
