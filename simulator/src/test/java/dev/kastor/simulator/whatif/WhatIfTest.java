package dev.kastor.simulator.whatif;

import static dev.kastor.simulator.whatif.Live.NOW;
import static dev.kastor.simulator.whatif.Live.cluster;
import static dev.kastor.simulator.whatif.Live.runs;
import static dev.kastor.simulator.whatif.Live.waits;
import static dev.kastor.simulator.whatif.Live.whatIf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class WhatIfTest {
  /** An event asks for a round, which comes a tenth of a second later at most. */
  private static final double ROUND = 0.1;

  private static double seconds(Optional<Instant> at) {
    return Duration.between(NOW, at.orElseThrow()).toNanos() * 1e-9;
  }

  private static Fate fate(Future future, String job) {
    return future.fates().get(new JobId("team", job));
  }

  private static void check(Fate fate, double start, double end) {
    assertThat(seconds(fate.start())).as("start of %s", fate.job()).isCloseTo(start, within(ROUND));
    assertThat(seconds(fate.end())).as("end of %s", fate.job()).isCloseTo(end, within(3 * ROUND));
  }

  /** One slot: 100 s of the first, a start of 15 s, 50 s of the second. */
  @Test
  void whoWaitsStartsWhenWhoRunsEnds() {
    Future now = whatIf(cluster(List.of(1), runs("a", "n0", 100), waits("b", 50))).now();
    assertThat(fate(now, "a").runs()).isTrue();
    assertThat(fate(now, "a").start()).isEmpty();
    assertThat(seconds(fate(now, "a").end())).isCloseTo(100, within(1e-3));
    check(fate(now, "b"), 100, 165);
    assertThat(seconds(fate(now, "b").trains())).isCloseTo(115, within(ROUND));
  }

  @Test
  void aJobMoreStartsAfterThoseThatAreThere() {
    WhatIf answer =
        whatIf(
            cluster(List.of(1), runs("a", "n0", 100), waits("b", 50)),
            new Supposition.Added(waits("c", 20)));
    assertThat(answer.added()).hasSize(1);
    check(answer.added().getFirst(), 165, 200);
    assertThat(answer.added().getFirst().replicas()).isEqualTo(1);
    assertThat(answer.differences()).hasSize(2).allMatch(each -> each.laterSeconds() == 0);
    assertThat(answer.meanSeconds(false)).isCloseTo(132.5, within(2 * ROUND));
  }

  /** Shortest first: the one that is added goes before the one that waits. */
  @Test
  void aJobMoreMakesOthersWaitByAsLongAsItTakes() {
    WhatIf answer =
        whatIf(
            cluster(List.of(1), runs("a", "n0", 10), waits("b", 50)).withPolicy("srtf"),
            new Supposition.Added(waits("c", 20)));
    check(answer.added().getFirst(), 10, 45);
    WhatIf.Difference b = answer.differences().get(1);
    assertThat(b.laterSeconds()).isCloseTo(35, within(3 * ROUND));
    check(b.now(), 10, 75);
    check(b.then(), 45, 110);
  }

  @Test
  void aNodeMoreLetsTheNextStartAtOnce() {
    WhatIf answer =
        whatIf(
            cluster(List.of(1), runs("a", "n0", 100), waits("b", 50)),
            new Supposition.Nodes(1, "t4"));
    check(fate(answer.then(), "b"), 0, 65);
    assertThat(answer.differences().get(1).laterSeconds()).isCloseTo(-100, within(3 * ROUND));
    assertThat(answer.meanSeconds(true)).isCloseTo(82.5, within(2 * ROUND));
  }

  /** The last of equals leaves; its job keeps its work and starts anew when there is room. */
  @Test
  void aNodeLessMakesItsJobWaitWithWhatItHasDone() {
    WhatIf answer =
        whatIf(
            cluster(List.of(1, 1), runs("a", "n0", 100), runs("b", "n1", 50)),
            new Supposition.Nodes(-1, "t4"));
    assertThat(seconds(fate(answer.now(), "b").end())).isCloseTo(50, within(ROUND));
    // First come, first served: both were submitted at once, and the node that is left holds a.
    check(fate(answer.then(), "b"), 100, 165);
  }

  @Test
  void whatCannotStartHasNoEnd() {
    WhatIf answer =
        whatIf(
            cluster(List.of(1, 1), runs("a", "n0", 100), runs("b", "n1", 50)),
            new Supposition.Nodes(-2, "t4"));
    assertThat(answer.differences()).allMatch(each -> each.laterSeconds() > 1e300);
    assertThat(answer.meanSeconds(true)).isNaN();
    LiveCluster closed = cluster(List.of(1), Live.job("q", Allocation.NONE, 10, "research"));
    WhatIf never = whatIf(closed, new Supposition.QueueQuota("research", 0));
    check(fate(never.now(), "q"), 0, 25);
    assertThat(fate(never.then(), "q").start()).isEmpty();
    assertThat(fate(never.then(), "q").end()).isEmpty();
  }

  @Test
  void aQuotaHoldsJobsBack() {
    LiveCluster open =
        cluster(
            List.of(2),
            Live.job("p", Allocation.NONE, 10, "research"),
            Live.job("q", Allocation.NONE, 10, "research"));
    WhatIf answer = whatIf(open, new Supposition.QueueQuota("research", 1));
    check(fate(answer.now(), "q"), 0, 25);
    check(fate(answer.then(), "p"), 0, 25);
    check(fate(answer.then(), "q"), 25, 50);
  }

  /** As the operator does: the jobs go on when the next period of the budget begins. */
  @Tag("slow")
  @Test
  void aQueueWhoseBudgetIsSpentGoesOnWithItsNextPeriod() {
    Instant next = NOW.plus(Duration.ofDays(3));
    LiveCluster open = cluster(List.of(1), Live.job("q", Allocation.NONE, 10, "research"));
    LiveCluster spent =
        open.withQueues(
            Map.of(
                "research",
                new Queue("research").stopped(Reason.of("BudgetSpent", "It is spent."), next)));
    WhatIf answer = whatIf(spent, new Supposition.QueueQuota("research", 1));
    for (Future future : List.of(answer.now(), answer.then())) {
      Duration late = Duration.between(next, fate(future, "q").start().orElseThrow());
      assertThat(late).isBetween(Duration.ZERO, Duration.ofMinutes(5));
      assertThat(fate(future, "q").end()).isPresent();
    }
    assertThat(answer.assumptions())
        .contains("queue research is stopped until 2026-03-04T12:00:00Z (BudgetSpent)");
  }

  @Test
  void aPriorityPutsAJobBeforeOthersUnderThePolicyThatHeedsIt() {
    LiveCluster two =
        cluster(List.of(1), runs("a", "n0", 100), waits("b", 500), waits("c", 500))
            .withPolicy("kastor");
    WhatIf answer = whatIf(two, new Supposition.Priority(new JobId("team", "c"), 5));
    assertThat(fate(answer.now(), "b").start().orElseThrow())
        .isBefore(fate(answer.now(), "c").start().orElseThrow());
    assertThat(fate(answer.then(), "c").start().orElseThrow())
        .isBefore(fate(answer.then(), "b").start().orElseThrow());
  }

  @Test
  void aJobOnItsWayTrainsWhenItsPauseIsOver() {
    JobState a = runs("a", "n0", 100).state();
    JobState starting =
        new JobState(
            a.spec(),
            a.allocation(),
            a.model(),
            1,
            a.progress(),
            a.age(),
            5,
            0,
            a.rescaleCost(),
            a.restartCost(),
            a.startCost(),
            Duration.ofSeconds(5),
            Duration.ofSeconds(5),
            true,
            true,
            Outlook.NONE,
            Optional.empty());
    Future now = whatIf(cluster(List.of(1), new LiveJob(starting, false))).now();
    assertThat(seconds(fate(now, "a").end())).isCloseTo(110, within(ROUND));
  }

  @Test
  void whatNobodyKnowsIsAssumedAndSaid() {
    JobState b = waits("b", 50).state();
    JobState unheard =
        new JobState(
            b.spec(),
            b.allocation(),
            Optional.empty(),
            0,
            Optional.empty(),
            b.age(),
            0,
            0,
            b.rescaleCost(),
            false);
    WhatIf answer =
        whatIf(
            cluster(List.of(1), runs("a", "n0", 100)),
            new Supposition.Added(new LiveJob(unheard, false)));
    check(answer.added().getFirst(), 100, 100 + 15 + 3600);
    assertThat(answer.assumptions())
        .contains("no other job comes")
        .anyMatch(text -> text.contains("speed of team/b") && text.contains("1h"));
  }

  @Test
  void aWorkThatIsNotDeclaredIsTwiceWhatIsDone() {
    JobState a = runs("a", "n0", 50).state();
    JobState undeclared =
        new JobState(
            a.spec(),
            a.allocation(),
            a.model(),
            1,
            Optional.of(new Progress(100, 100, 0, 6400, 0)),
            a.age(),
            60,
            0,
            a.rescaleCost(),
            a.restartCost(),
            a.startCost(),
            a.sinceChange(),
            a.unsaved(),
            false,
            false,
            Outlook.NONE,
            Optional.empty());
    WhatIf answer = whatIf(cluster(List.of(1), new LiveJob(undeclared, false)));
    assertThat(seconds(fate(answer.now(), "a").end())).isCloseTo(100, within(ROUND));
    assertThat(answer.assumptions()).anyMatch(text -> text.contains("twice what is done"));
  }

  @Test
  void whatTheClusterDoesNotHaveIsNamedWithWhatItHas() {
    LiveCluster some = cluster(List.of(1), runs("a", "n0", 100));
    assertThatThrownBy(() -> whatIf(some, new Supposition.Nodes(1, "h100")))
        .hasMessageContaining("h100")
        .hasMessageContaining("t4");
    assertThatThrownBy(() -> whatIf(some, new Supposition.Nodes(-2, "t4")))
        .hasMessageContaining("there are 1");
    assertThatThrownBy(() -> whatIf(some, new Supposition.QueueQuota("ml", 1)))
        .hasMessageContaining("research");
    assertThatThrownBy(() -> whatIf(some, new Supposition.Priority(new JobId("team", "x"), 1)))
        .hasMessageContaining("team/a");
    assertThatThrownBy(() -> whatIf(some, new Supposition.Added(waits("a", 1))))
        .hasMessageContaining("already");
    assertThatThrownBy(() -> whatIf(some, new Supposition.Policy("nonsense")))
        .hasMessageContaining("nonsense")
        .hasMessageContaining("kastor");
  }

  @Test
  void aReplayThatTakesTooLongIsGivenUp() {
    LiveCluster some = cluster(List.of(1), runs("a", "n0", 100), waits("b", 50));
    assertThatThrownBy(() -> WhatIf.of(some, List.of(), Live::policy, Live.UNKNOWN, () -> true))
        .isInstanceOf(OverdueException.class);
  }

  @Test
  void nobodyThereIsNothingToReplay() {
    assertThat(whatIf(cluster(List.of(1))).differences()).isEmpty();
    assertThat(whatIf(cluster(List.of()), new Supposition.Added(waits("b", 5))).added())
        .singleElement()
        .matches(fate -> fate.start().isEmpty());
  }
}
