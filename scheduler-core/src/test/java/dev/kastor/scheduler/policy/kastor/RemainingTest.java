package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Time left of jobs: what is known of it, and what is a guess. */
final class RemainingTest {
  private static List<Bid> bids(JobState... jobs) {
    Snapshot snapshot =
        new Snapshot(Instant.EPOCH, List.of(new Node("node-0", "a", 1)), List.of(jobs));
    return new KastorPolicy(TestOptions.USUAL).decide(snapshot).bids();
  }

  private static TestJob known(String name) {
    return job(name).replicas(1, 1).model(TestJob.SCALABLE, 1);
  }

  private static JobState neverMeasured(String name) {
    return job(name).replicas(1, 1).build();
  }

  @Test
  void isKnownOfAJobWhoseWorkAndSpeedAre() {
    Bid bid = bids(known("a").steps(10, 1000).build()).getFirst();
    assertThat(bid.certain).isTrue();
    double seconds = bid.remaining;
    assertThat(bids(known("a").steps(505, 1000).build()).getFirst().remaining)
        .isEqualTo(seconds / 2);
  }

  @Test
  void isKnownOfAJobOfAKnownFamilyBeforeItsFirstReport() {
    List<Bid> bids =
        bids(
            known("a").familyEndedAfter(2000).build(),
            known("b").familyEndedAfter(1000).build(),
            neverMeasured("c"));
    assertThat(bids.get(0).certain).isTrue();
    assertThat(bids.get(0).remaining).isEqualTo(2 * bids.get(1).remaining);
  }

  /** Else a job of seconds waits behind jobs of hours until it has said how short it is. */
  @Test
  void isKnownOfAJobThatDeclaresItsWorkBeforeItsFirstReport() {
    JobState family = known("a").build();
    JobState declared = family.withSpec(family.spec().declaring(500));
    Bid bid = bids(declared, known("b").steps(0, 1000).build()).getFirst();
    assertThat(bid.certain).isTrue();
    assertThat(2 * bid.remaining)
        .isEqualTo(bids(known("b").steps(0, 1000).build()).getFirst().remaining);
  }

  @Test
  void isAGuessForAJobThatNobodyHasMeasured() {
    List<Bid> bids =
        bids(
            known("a").steps(0, 100).build(),
            known("b").steps(0, 400).build(),
            neverMeasured("c"),
            job("d").replicas(1, 1).steps(0, 200).build());
    double typical = Math.sqrt(bids.get(0).remaining * bids.get(1).remaining);
    for (Bid bid : bids.subList(2, 4)) {
      assertThat(bid.certain).as(bid.job.id().name()).isFalse();
      assertThat(bid.remaining).isCloseTo(typical, within(1e-9 * typical));
    }
  }

  @Test
  void isAGuessForAJobThatDeclaresNothing() {
    assertThat(bids(known("a").steps(300, 0).build()).getFirst().certain).isFalse();
  }

  /** Ranks would turn round with each first report if it were certain that one lasts longer. */
  @Test
  void ofEqualJobsTheOneThatNobodyHasMeasuredDelaysNoMoreAndNoLess() {
    List<Bid> bids = bids(neverMeasured("a"), known("b").steps(0, 400).build());
    assertThat(bids).extracting(bid -> bid.delays).containsExactly(0.75, 0.75);
  }
}
