package dev.kastor.scheduler.speed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.TelemetryReport;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class JobStepsTest {
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");

  private final NodeSpeeds speeds = new NodeSpeeds();
  private final JobSteps steps = job("mine");

  private JobSteps job(String name) {
    return new JobSteps(speeds, "team", "family", name);
  }

  private static StepProfile profile(int nodes, double seconds) {
    return new StepProfile(nodes, 4, 32, 10, seconds, seconds / 4, "a100");
  }

  private static TelemetryReport report(long generation, StepProfile... profiles) {
    return new TelemetryReport(
        "team",
        "mine",
        "mine-0",
        generation,
        generation,
        4,
        new BatchPlan(32, 0),
        Arrays.asList(profiles),
        null,
        new Progress(10, 10, 100, 10, 0),
        null,
        null,
        null,
        List.of(),
        null);
  }

  private Instant later() {
    now = now.plusSeconds(45);
    return now;
  }

  private void train(JobSteps job, String node, double seconds, int reports) {
    job.placed(1, 4, List.of(node));
    for (int i = 0; i < reports; i++) {
      job.correct(report(1, profile(1, seconds)), Optional.empty(), later());
    }
  }

  @BeforeEach
  void oneNodeIsSlow() {
    train(job("a"), "a1", 1, 20);
    train(job("b"), "b1", 1, 20);
    train(job("c"), "slow", 2, 3);
    assertThat(speeds.slow()).containsOnlyKeys("slow");
  }

  @Test
  void stepsOnASlowNodeAreLearnedAsIfItWereWell() {
    steps.placed(1, 4, List.of("slow"));
    TelemetryReport report = report(1, profile(1, 2));
    TelemetryReport corrected = steps.correct(report, Optional.empty(), later()).report();
    assertThat(corrected).isEqualTo(report.withProfiles(List.of(profile(1, 1))));
    assertThat(steps.slowdown(1)).isEqualTo(2);
  }

  @Test
  void aReportOfOtherNodesStaysTheSameObject() {
    steps.placed(1, 4, List.of("a1"));
    TelemetryReport report = report(1, profile(1, 1));
    assertThat(steps.correct(report, Optional.empty(), later()).report()).isSameAs(report);
    assertThat(steps.slowdown(1)).isEqualTo(1);
  }

  @Test
  void aReportTellsTheSpeedOfNodesAsItChanges() {
    steps.placed(1, 4, List.of("n1"));
    assertThat(steps.correct(report(1, profile(1, 2)), Optional.empty(), later()).changed())
        .isEmpty();
    assertThat(steps.correct(report(1, profile(1, 2)), Optional.empty(), later()).changed())
        .isEmpty();
    assertThat(steps.correct(report(1, profile(1, 2)), Optional.empty(), later()).changed())
        .containsExactly(new NodeSpeeds.Changed("n1", 1, 2));
  }

  @Test
  void stepsFromBeforeAChangeBelongToTheNodesOfThen() {
    steps.placed(1, 4, List.of("slow"));
    steps.placed(2, 4, List.of("a1", "b1"));
    TelemetryReport report = report(2, profile(1, 2), profile(2, 3));
    assertThat(steps.correct(report, Optional.empty(), later()).report().profiles())
        .containsExactly(profile(1, 1), profile(2, 3));
    assertThat(steps.slowdown(1)).isEqualTo(2);
    assertThat(steps.slowdown(2)).isEqualTo(1);
  }

  @Test
  void stepsThatTwoPlacesMayHaveMadeAreNotCorrected() {
    steps.placed(1, 4, List.of("slow"));
    steps.placed(2, 4, List.of("a1"));
    TelemetryReport both = report(2, profile(1, 2));
    assertThat(steps.correct(both, Optional.empty(), later()).report()).isSameAs(both);
    steps.placed(3, 4, List.of("slow"));
    TelemetryReport back = report(3, profile(2, 2));
    assertThat(steps.correct(back, Optional.empty(), later()).report()).isSameAs(back);
    TelemetryReport later = report(3, profile(1, 2));
    assertThat(steps.correct(later, Optional.empty(), later()).report().profiles())
        .containsExactly(profile(1, 1));
  }
}
