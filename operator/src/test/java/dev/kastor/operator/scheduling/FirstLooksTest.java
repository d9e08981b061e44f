package dev.kastor.operator.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.GoodputSpec;
import dev.kastor.operator.TestJobs;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FirstLooksTest {
  /** When test jobs are created. */
  private static final Instant CREATED = Instant.parse("2026-01-01T00:00:00Z");

  private final Metrics metrics = new Metrics();
  private final FirstLooks looks = new FirstLooks(metrics, job -> false);

  @Test
  void countsEachNewJobOnceWithItsDelay() {
    look(0);
    look(4, "bert");
    look(9, "bert");
    assertThat(sample("kastor_first_decision_delay_seconds_count")).isEqualTo(1);
    assertThat(sample("kastor_first_decision_delay_seconds_sum")).isEqualTo(4);
  }

  @Test
  void jobsFromBeforeItsTimeAreNotNew() {
    look(3600, "bert");
    look(3601, "bert");
    assertThat(sample("kastor_first_decision_delay_seconds_count")).isZero();
  }

  @Test
  void aJobThatWasSuspendedIsNotNewWhenItIsBack() {
    look(0);
    look(2, "bert");
    look(100);
    look(200, "bert");
    assertThat(sample("kastor_first_decision_delay_seconds_count")).isEqualTo(1);
  }

  private void look(int second, String... names) {
    List<JobState> jobs = List.of(names).stream().map(name -> job(name, second)).toList();
    looks.decided(round(second, jobs), CREATED.plusSeconds(second));
  }

  private static JobState job(String name, int second) {
    return JobMapper.state(
        TestJobs.job(name, 1, 4, GoodputSpec.Mode.Fixed),
        null,
        Measured.NOTHING,
        true,
        false,
        CREATED.plusSeconds(second));
  }

  private static Round round(int second, List<JobState> jobs) {
    return new Round(
        new Snapshot(CREATED.plusSeconds(second), List.of(), jobs),
        new Plan(new LinkedHashMap<>()),
        List.of(),
        List.of(),
        0);
  }

  private double sample(String name) {
    return metrics.registry().getSampleValue(name);
  }
}
