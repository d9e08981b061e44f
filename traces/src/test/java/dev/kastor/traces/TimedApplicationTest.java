package dev.kastor.traces;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.traces.Workload.Job;
import dev.kastor.traces.Workload.Outcome;
import dev.kastor.traces.profile.Applications;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TimedApplicationTest {
  private final TimedApplication job = new TimedApplication("x", 4, 1000);

  /** Seconds of the whole work on so many replicas of one node. */
  private double seconds(int replicas) {
    int batch = job.fixedGlobalBatch().orElseThrow();
    int atomic = Math.ceilDiv(batch, replicas);
    return job.stepTime("", new int[] {replicas}, atomic).stepSeconds()
        * job.remainingSteps(batch, 0)
        / job.gradient(batch, 0).gain(batch);
  }

  @Test
  void lastsAsLongAsInItsTrace() {
    assertThat(seconds(4)).isEqualTo(1000);
  }

  @Test
  void scalesLinearly() {
    assertThat(seconds(1)).isEqualTo(4000);
    assertThat(seconds(2)).isEqualTo(2000);
    assertThat(seconds(8)).isEqualTo(500);
  }

  @Test
  void standsForJobsThatGiveTheirDuration() {
    assertThat(Applications.of(Job.timed("j", 0, 4, 1000, Outcome.FAILED), Map.of()))
        .isEqualTo(new TimedApplication(Workload.DURATION_ONLY, 4, 1000));
    Job named = new Job("j", 0, "a", 1, 4, 1, 0, Workload.Category.ADAPTIVE);
    assertThat(Applications.of(named, Map.of("a", job))).isSameAs(job);
    assertThatThrownBy(() -> Applications.of(named, Map.of("b", job)))
        .hasMessageContainingAll("'a'", "one of: b");
  }
}
