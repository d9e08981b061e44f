package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanViolation;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

class DecisionsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");
  private static final JobId BERT = new JobId("team", "bert");

  private final Decisions decisions = new Decisions();

  @Test
  void onlyAnotherReasonToWaitIsNews() {
    assertThat(decisions.decided(round(Allocation.NONE, "TooFew"))).containsExactly(BERT);
    assertThat(decisions.decided(round(Allocation.NONE, "TooFew"))).isEmpty();
    assertThat(decisions.decided(round(Allocation.NONE, "Outbid"))).containsExactly(BERT);
    assertThat(decisions.decided(round(Allocation.on("n1", 2), "Started"))).isEmpty();
    assertThat(decisions.decided(round(Allocation.NONE, "Outbid"))).containsExactly(BERT);
  }

  @Test
  void theNewestRoundCounts() {
    assertThat(decisions.of(BERT)).isEmpty();
    decisions.decided(round(Allocation.NONE, "TooFew"));
    assertThat(decisions.of(BERT).orElseThrow().reason().code()).isEqualTo("TooFew");
    decisions.decided(round(Allocation.on("n1", 2), "Started"));
    assertThat(decisions.of(BERT).orElseThrow().replicas()).isEqualTo(2);
    assertThat(decisions.of(BERT).orElseThrow().at()).isEqualTo(NOW);
    assertThat(decisions.of(new JobId("team", "other"))).isEmpty();
  }

  @Test
  void whatANewcomerGotStandsUntilALaterRoundOverAll() {
    decisions.decided(round(Allocation.NONE, "TooFew"));
    decisions.served(at(NOW.plusSeconds(1), Allocation.on("n1", 1), "Started"));
    assertThat(decisions.of(BERT).orElseThrow().reason().code()).isEqualTo("Started");
    // It looked before the newcomer was served.
    decisions.decided(round(Allocation.NONE, "Outbid"));
    assertThat(decisions.of(BERT).orElseThrow().reason().code()).isEqualTo("Started");
    decisions.decided(at(NOW.plusSeconds(2), Allocation.on("n1", 2), "Grown"));
    assertThat(decisions.of(BERT).orElseThrow().replicas()).isEqualTo(2);
  }

  @Test
  void aPlanThatWasRefusedDecidedNothing() {
    decisions.decided(round(Allocation.NONE, "TooFew"));
    Round refused = round(Allocation.on("n1", 2), "Started");
    assertThat(
            decisions.decided(
                new Round(
                    refused.snapshot(),
                    refused.plan(),
                    List.of(new PlanViolation.UnknownJob(BERT)),
                    List.of(),
                    0)))
        .isEmpty();
    assertThat(decisions.of(BERT).orElseThrow().reason().code()).isEqualTo("TooFew");
  }

  private static Round round(Allocation allocation, String reason) {
    return at(NOW, allocation, reason);
  }

  private static Round at(Instant now, Allocation allocation, String reason) {
    JobState job =
        JobMapper.state(
            TestJobs.job("bert", 1, 4, Mode.Adaptive), null, Measured.NOTHING, true, false, now);
    SequencedMap<JobId, Plan.Assignment> plan = new LinkedHashMap<>();
    plan.put(BERT, new Plan.Assignment(allocation, Reason.of(reason, ".")));
    return new Round(
        new Snapshot(now, List.of(), List.of(job)), new Plan(plan), List.of(), List.of(), 0);
  }
}
