package dev.kastor.operator.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.operator.queue.QuotaGate.Holding;
import dev.kastor.operator.queue.QuotaGate.Open;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Quotas;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("never-retried")
final class QuotaGateTest {
  private static final Reason WHY = Reason.of("Test", "The test wants it so.");
  private static final JobId BORROWER = new JobId("team", "borrower");
  private static final JobId LENDER = new JobId("team", "lender");
  private static final JobId FREE = new JobId("team", "free");

  private static Queue queue(String name) {
    return new Queue(name, 1, "c", Optional.of(new Quota(2)), StopPolicy.NONE);
  }

  private static Holding holding(String queue, int slots) {
    return new Holding(queue, slots, slots == 0 ? Map.of() : Map.of("n1", slots));
  }

  private static QuotaGate gate(int borrowed) {
    return new QuotaGate(
        Quotas.of(Map.of("red", queue("red"), "blue", queue("blue"))),
        Map.of(
            BORROWER, holding("red", borrowed),
            LENDER, holding("blue", 0),
            FREE, holding("", 0)));
  }

  private static List<Change> changes(List<Open> open) {
    return open.stream().map(Open::change).toList();
  }

  private static Change start(JobId job, int replicas) {
    return new Change.Start(job, Allocation.on("n1", replicas), WHY);
  }

  private static Change move(int replicas) {
    return new Change.Migrate(BORROWER, Allocation.on("n1", 2), Allocation.on("n2", replicas), WHY);
  }

  @Test
  void whoTakesBackWaitsForThoseWhoLeave() {
    Change shrink =
        new Change.Rescale(BORROWER, Allocation.on("n1", 4), Allocation.on("n1", 2), WHY);
    assertThat(changes(gate(4).open(List.of(shrink, start(LENDER, 2), start(FREE, 8)))))
        .containsExactly(shrink, start(FREE, 8));
    assertThat(gate(3).open(List.of(start(LENDER, 2)))).isEmpty();
    assertThat(gate(2).open(List.of(start(LENDER, 2)))).hasSize(1);
  }

  @Test
  void stopsAndMovesAlwaysPass() {
    Change stop = new Change.Stop(BORROWER, Allocation.on("n1", 4), WHY);
    Change move = new Change.Migrate(BORROWER, Allocation.on("n1", 4), Allocation.on("n2", 4), WHY);
    assertThat(changes(gate(6).open(List.of(stop)))).containsExactly(stop);
    assertThat(changes(gate(6).open(List.of(move)))).containsExactly(move);
  }

  @Test
  void aMoveMayHoldBothPlacesAsFarAsThereIsRoom() {
    assertThat(gate(2).open(List.of(move(2)))).extracting(Open::atMost).containsExactly(4);
    assertThat(gate(3).open(List.of(move(2)))).extracting(Open::atMost).containsExactly(4);
    assertThat(gate(4).open(List.of(move(2)))).extracting(Open::atMost).containsExactly(4);
    // Three of the four that the cohort has, so that no room is left for the two old ones.
    assertThat(gate(2).open(List.of(move(3)))).extracting(Open::atMost).containsExactly(4);
  }

  @Test
  void startsComeBeforeTheEaseOfAMove() {
    List<Change> changes = List.of(move(2), start(LENDER, 2));
    assertThat(gate(2).open(changes)).extracting(Open::atMost).containsExactly(2, 2);
  }

  @Test
  void withoutAQuotaThereIsNoLimit() {
    assertThat(gate(0).open(List.of(start(FREE, 8))))
        .extracting(Open::atMost)
        .containsExactly((Integer) null);
  }

  @Test
  void whoMovesIsCountedWithWhatItMayComeToHold() {
    Allocation there = Allocation.on("n2", 2);
    assertThat(Holding.of("red", there, 4, Map.of("n1", 2)).slots()).isEqualTo(4);
    assertThat(Holding.of("red", there, 4, Map.of("n1", 1, "n2", 1)).slots()).isEqualTo(4);
    assertThat(Holding.of("red", there, 4, Map.of("n2", 1)).slots())
        .as("it has moved")
        .isEqualTo(2);
    assertThat(Holding.of("red", there, null, Map.of("n1", 3)).slots()).isEqualTo(3);
  }

  /** The cohort has four slots, of which a replica takes two. */
  @Test
  void roomIsInSlotsAndWhatAJobMayHoldInReplicas() {
    Change grow = new Change.Start(BORROWER, Allocation.on("n1", 2, 2), WHY);
    Change more = new Change.Start(BORROWER, Allocation.on("n1", 3, 2), WHY);
    assertThat(gate(0).open(List.of(grow))).extracting(Open::atMost).containsExactly(2);
    assertThat(gate(0).open(List.of(more))).isEmpty();
    Change move =
        new Change.Migrate(BORROWER, Allocation.on("n1", 1, 2), Allocation.on("n2", 1, 2), WHY);
    assertThat(gate(2).open(List.of(move))).extracting(Open::atMost).containsExactly(2);
  }

  @Test
  void whoMovesReplicasOfSeveralSlotsHoldsThemAll() {
    Allocation there = Allocation.on("n2", 1, 2);
    assertThat(Holding.of("red", there, 2, Map.of("n1", 2)).slots()).isEqualTo(4);
    assertThat(Holding.of("red", there, null, Map.of("n2", 2)).slots()).isEqualTo(2);
  }

  @Test
  void changesOfOneRoundShareTheRoom() {
    QuotaGate gate =
        new QuotaGate(
            Quotas.of(Map.of("red", queue("red"))),
            Map.of(BORROWER, holding("red", 0), LENDER, holding("red", 0)));
    assertThat(gate.open(List.of(start(BORROWER, 1), start(LENDER, 2)))).hasSize(1);
  }
}
