package dev.kastor.scheduler.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class NodeAdvisorTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static List<Node> nodes(int count) {
    return IntStream.range(0, count).mapToObj(n -> new Node("n" + n, "", 4)).toList();
  }

  private static JobState gang(String name, int slots, Allocation on) {
    return TestJob.job(name).elasticity(new Elasticity.Rigid(slots)).on(on).build();
  }

  private static Snapshot at(int minute, List<Node> nodes, JobState... jobs) {
    return new Snapshot(Instant.EPOCH.plus(MINUTE.multipliedBy(minute)), nodes, List.of(jobs));
  }

  private static NodeAdvisor advisor(String rules) {
    return new NodeAdvisor(NodeRules.parse(rules), MINUTE, List.of(new NodeType("", 4, 0)));
  }

  @Test
  void utilityIsPolluxSpeedupOverGpus() {
    JobState job = TestJob.job("a").replicas(1, 8).model(TestJob.SCALABLE, 4).on("n0", 4).build();
    NodeAdvisor advisor = advisor("0.1:0.2:1-4");
    assertThat(advisor.observe(at(0, nodes(2), job))).isEmpty();
    double four = BatchChoice.goodput(job.spec(), TestJob.SCALABLE, new PlacementShape(1, 4, ""));
    double one = BatchChoice.goodput(job.spec(), TestJob.SCALABLE, new PlacementShape(1, 1, ""));
    assertThat(advisor.current().getFirst().utility()).isCloseTo(four / one / 8, within(1e-12));
  }

  @Test
  void aFullWindowBelowTheBandTakesNodesAway() {
    NodeAdvisor advisor = advisor("0.6:0.9:1-8");
    JobState job = gang("a", 4, Allocation.on("n0", 4));
    for (int minute = 0; minute < NodeAdvisor.WINDOW - 1; minute++) {
      assertThat(advisor.observe(at(minute, nodes(4), job))).isEmpty();
    }
    List<NodeAdvice> news = advisor.observe(at(NodeAdvisor.WINDOW - 1, nodes(4), job));
    assertThat(news).hasSize(1);
    NodeAdvice advice = news.getFirst();
    assertThat(advice.nodes()).isEqualTo(4);
    assertThat(advice.advised()).isEqualTo(1);
    assertThat(advice.utility()).isCloseTo(0.25, within(1e-9));
    assertThat(advice.expectedUtility()).isCloseTo(1, within(1e-9));
    assertThat(advice.reason().code()).isEqualTo("BelowBand");
    assertThat(advice.reason().numbers())
        .containsEntry("advisedNodes", 1.0)
        .containsEntry("low", 0.6)
        .containsEntry("waitingJobs", 0.0);
    // Nobody follows it: it stands, and is no news again.
    for (int minute = 15; minute < 50; minute++) {
      assertThat(advisor.observe(at(minute, nodes(4), job))).isEmpty();
      assertThat(advisor.current().getFirst().advised()).isEqualTo(1);
    }
    // Somebody does.
    assertThat(advisor.observe(at(50, nodes(1), job))).isEmpty();
    assertThat(advisor.current().getFirst().changes()).isFalse();
  }

  @Test
  void aFullWindowAboveTheBandAsksForNodesForThoseWhoWait() {
    NodeAdvisor advisor = advisor("0.6:0.9:1-8");
    List<NodeAdvice> news = new ArrayList<>();
    for (int minute = 0; minute < 20; minute++) {
      news.addAll(
          advisor.observe(
              at(
                  minute,
                  nodes(1),
                  gang("a", 4, Allocation.on("n0", 4)),
                  gang("b", 4, Allocation.NONE),
                  gang("c", 4, Allocation.NONE))));
    }
    assertThat(news).hasSize(1);
    assertThat(news.getFirst().reason().code()).isEqualTo("AboveBand");
    // Twelve slots of work: on four nodes three quarters of it, the middle of the band.
    assertThat(news.getFirst().advised()).isEqualTo(4);
    assertThat(news.getFirst().reason().numbers()).containsEntry("waitingJobs", 2.0);
  }

  @Test
  void withinTheBandNothingChanges() {
    NodeAdvisor advisor = advisor("0.4:0.6:1-8");
    for (int minute = 0; minute < 40; minute++) {
      assertThat(advisor.observe(at(minute, nodes(2), gang("a", 4, Allocation.on("n0", 4)))))
          .isEmpty();
    }
    assertThat(advisor.current().getFirst().changes()).isFalse();
  }

  @Test
  void samplesAreAnIntervalApart() {
    NodeAdvisor advisor = advisor("0.6:0.9:1-8");
    JobState job = gang("a", 4, Allocation.on("n0", 4));
    for (int second = 0; second < 600; second++) {
      Instant now = Instant.EPOCH.plusSeconds(second);
      assertThat(advisor.observe(new Snapshot(now, nodes(4), List.of(job)))).isEmpty();
    }
  }

  @Test
  void aJobThatCanNeverRunIsToldAtOnce() {
    NodeAdvisor advisor = advisor("0.6:0.9:0-8");
    assertThat(advisor.observe(at(0, List.of()))).isEmpty();
    List<NodeAdvice> news = advisor.observe(at(1, List.of(), gang("a", 6, Allocation.NONE)));
    assertThat(news).hasSize(1);
    assertThat(news.getFirst().advised()).isEqualTo(2);
    assertThat(news.getFirst().reason().code()).isEqualTo("TooFewToRun");
  }

  @Test
  void pricesArePartOfTheAdvice() {
    NodeAdvisor advisor = new NodeAdvisor(NodeRules.parse("0.6:0.9:1-8"), MINUTE, List.of());
    List<Node> priced =
        IntStream.range(0, 4).mapToObj(n -> new Node("n" + n, "", 4, "", false, 2.5)).toList();
    List<NodeAdvice> news = new ArrayList<>();
    for (int minute = 0; minute < 15; minute++) {
      news.addAll(advisor.observe(at(minute, priced, gang("a", 4, Allocation.on("n0", 4)))));
    }
    assertThat(news.getFirst().reason().numbers())
        .containsEntry("pricePerHour", 10.0)
        .containsEntry("advisedPricePerHour", 2.5);
  }
}
