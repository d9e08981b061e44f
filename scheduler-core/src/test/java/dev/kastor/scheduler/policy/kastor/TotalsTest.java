package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TotalsTest {
  private static JobState undeclared(String name, String family, double done) {
    return scalable(name, family).steps(done, 0).build();
  }

  private static TestJob scalable(String name, String family) {
    return job(name)
        .family(family)
        .replicas(1, 4)
        .model(TestJob.SCALABLE, 4)
        .sinceChange(Duration.ofHours(1))
        .rescaleCost(Duration.ZERO);
  }

  private static double of(List<JobState> jobs, int index) {
    JobState job = jobs.get(index);
    return new Totals(jobs).of(job, job.progress().orElseThrow());
  }

  @Test
  void jobsOfAFamilyAreAsLongAsTwiceWhatTheFurthestHasDone() {
    List<JobState> jobs =
        List.of(
            undeclared("a", "f", 100),
            undeclared("b", "f", 700),
            undeclared("c", "g", 300),
            undeclared("d", "", 900),
            undeclared("e", "", 50));
    assertThat(of(jobs, 0)).isEqualTo(1400);
    assertThat(of(jobs, 1)).isEqualTo(1400);
    assertThat(of(jobs, 2)).as("of another family").isEqualTo(600);
    assertThat(of(jobs, 3)).as("of no family").isEqualTo(1800);
    assertThat(of(jobs, 4)).as("of no family either").isEqualTo(100);
    assertThat(new Totals(jobs).fraction(jobs.get(0))).isCloseTo(1 / 14.0, within(1e-12));
  }

  @Test
  void whatIsDeclaredCountsAndSaysNothingOfOthers() {
    List<JobState> jobs =
        List.of(scalable("a", "f").steps(900, 1000).build(), undeclared("b", "f", 100));
    assertThat(of(jobs, 0)).isEqualTo(1000);
    assertThat(of(jobs, 1)).isEqualTo(200);
  }

  @Test
  void theFurthestOfAFamilyGoesFirst() {
    JobState behind = scalable("a", "f").replicas(1, 1).steps(100, 0).build();
    JobState furthest = scalable("b", "f").replicas(1, 1).steps(3000, 0).build();
    Snapshot snapshot =
        new Snapshot(Instant.EPOCH, List.of(new Node("node-0", "a", 1)), List.of(behind, furthest));
    Plan plan = new KastorPolicy(TestOptions.USUAL).plan(snapshot);
    assertThat(plan.allocation(furthest.id()).replicas()).isEqualTo(1);
    assertThat(plan.allocation(behind.id()).replicas()).isEqualTo(0);
  }

  /**
   * A job that has had its share all the time is not late, whether its owner says how much work it
   * has or not. Half of its work is done, and the other half takes as long again.
   */
  @Test
  void whoDeclaresNothingIsNotLate() {
    Duration half = Duration.ofHours(1);
    JobState declared = scalable("a", "f").age(half).steps(500, 1000).build();
    JobState guessed = scalable("a", "f").age(half).steps(500, 0).build();
    double expected = stretch(declared, half);
    assertThat(expected).isCloseTo(1, within(0.01));
    assertThat(stretch(guessed, half)).isCloseTo(expected, within(1e-9));
  }

  private static double stretch(JobState job, Duration left) {
    Offers offers = new Offers(new int[] {0}, new int[] {1}, new double[] {1}, 1);
    double done = new Totals(List.of(job)).fraction(job);
    return Stretch.of(job, offers, left.toMillis() / 1000.0, done, 1);
  }
}
