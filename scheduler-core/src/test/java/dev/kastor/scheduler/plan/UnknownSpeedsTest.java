package dev.kastor.scheduler.plan;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class UnknownSpeedsTest {
  private static final Elasticity RESTARTS =
      new Elasticity.Restarting(2, 8, new AllowedReplicas.Any());

  private static Snapshot snapshot(TestJob... jobs) {
    List<JobState> states = List.of(jobs).stream().map(TestJob::build).toList();
    return new Snapshot(
        Instant.EPOCH.plus(Duration.ofHours(1)),
        List.of(new Node("n1", "a", 4), new Node("n2", "a", 4)),
        states);
  }

  private static Elasticity kept(TestJob one) {
    return UnknownSpeeds.keepSizes(snapshot(one)).jobs().getFirst().spec().elasticity();
  }

  @Test
  void whoRunsKeepsItsSizeUntilItsSpeedIsKnown() {
    assertThat(kept(job("a").elasticity(RESTARTS).on("n1", 3))).isEqualTo(new Elasticity.Rigid(3));
    assertThat(kept(job("a").elasticity(RESTARTS).on("n1", 3).model(TestJob.SCALABLE, 3)))
        .isEqualTo(RESTARTS);
  }

  @Test
  void itsReplicasKeepTheirGpus() {
    TestJob pairs = job("a").elasticity(RESTARTS).slotsPerReplica(2).on("n1", 2);
    assertThat(UnknownSpeeds.keepSizes(snapshot(pairs)).jobs().getFirst().spec())
        .isEqualTo(pairs.build().spec().withElasticity(new Elasticity.Rigid(2)))
        .extracting(spec -> spec.slotsPerReplica())
        .isEqualTo(2);
  }

  @Test
  void whoWaitsLostANodeOrHasOtherBoundsNowMayHaveAnySize() {
    assertThat(kept(job("a").elasticity(RESTARTS))).isEqualTo(RESTARTS);
    assertThat(kept(job("a").elasticity(RESTARTS).on("gone", 3))).isEqualTo(RESTARTS);
    assertThat(kept(job("a").elasticity(RESTARTS).on(Allocation.on("n1", 5)))).isEqualTo(RESTARTS);
    assertThat(kept(job("a").elasticity(RESTARTS).on("n1", 1))).isEqualTo(RESTARTS);
  }

  @Test
  void othersAreAsTheyWere() {
    Snapshot others = snapshot(job("a").on("n1", 2), job("b").on("n2", 2));
    assertThat(UnknownSpeeds.keepSizes(others)).isSameAs(others);
  }
}
