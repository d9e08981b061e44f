package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas that a running job adds hold slots while they start. */
final class StartsTest {
  private static final Duration LONG_AGO = Duration.ofMinutes(5);

  /** A job that trains with four replicas, and may have eight. */
  private static TestJob half(String name) {
    return job(name)
        .model(TestJob.SCALABLE, 8)
        .rescaleCost(Duration.ZERO)
        .sinceChange(LONG_AGO)
        .age(LONG_AGO)
        .on("n0", 4);
  }

  /** The decision on a node of eight slots that nobody else wants. */
  private static Decision decide(JobState job) {
    Snapshot snapshot = new Snapshot(Instant.EPOCH, List.of(new Node("n0", "a", 8)), List.of(job));
    return new KastorPolicy(TestOptions.USUAL).decide(snapshot);
  }

  private static int replicas(JobState job) {
    return decide(job).plan().allocation(job.id()).replicas();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 60})
  void aJobThatTrainsForLongTakesFreeSlots(int startSeconds) {
    JobState job = half("long").steps(10, 1e6).startCost(Duration.ofSeconds(startSeconds)).build();
    assertThat(replicas(job)).isEqualTo(8);
  }

  @Test
  void nothingIsStartedForAJobThatEndsSooner() {
    TestJob job = half("short").steps(900, 1000);
    assertThat(replicas(job.build())).as("at once").isEqualTo(8);
    assertThat(replicas(job.startCost(Duration.ofMinutes(10)).build())).isEqualTo(4);
  }

  @Test
  void theLongerTheStartTheLessAreAddedReplicasWorth() {
    double before = Double.POSITIVE_INFINITY;
    for (int seconds : new int[] {0, 5, 20, 80}) {
      JobState job = half("a").steps(10, 1e5).startCost(Duration.ofSeconds(seconds)).build();
      double value = worthOfEight(job);
      assertThat(value).isLessThan(before);
      before = value;
    }
  }

  private static double worthOfEight(JobState job) {
    Bid bid = decide(job).bids().getFirst();
    return bid.value[bid.offers.find(0, 8)] - bid.value[bid.held];
  }
}
