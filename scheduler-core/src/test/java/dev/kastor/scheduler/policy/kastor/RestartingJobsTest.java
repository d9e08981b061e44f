package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.loop.Round;
import dev.kastor.scheduler.loop.SchedulingLoop;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Change;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Jobs whose size changes by a restart of half a minute, on two nodes of four GPUs. */
final class RestartingJobsTest {
  private static final List<Node> NODES = List.of(new Node("n1", "a", 4), new Node("n2", "a", 4));

  /** Takes a step of its batch in a time that hardly depends on its replicas. */
  private static final GoodputModel FLAT =
      new GoodputModel(
          new ThroughputParams(1, 1e-6, 1e-8, 1e-8, 1e-8, 1e-8, 1.5), new GradientStats(0, 1, 64));

  private static final GoodputModel LINEAR =
      new GoodputModel(
          new ThroughputParams(1e-6, 0.002, 1e-8, 1e-8, 1e-8, 1e-8, 1.5),
          new GradientStats(0, 1, 64));

  private static TestJob restarting(String name, int min, int max) {
    return job(name)
        .elasticity(new Elasticity.Restarting(min, max, new AllowedReplicas.Any()))
        .rescaleCost(Duration.ofSeconds(30))
        .age(Duration.ofHours(1))
        .sinceChange(Duration.ofHours(1));
  }

  private static Round round(TestJob... jobs) {
    List<JobState> states = List.of(jobs).stream().map(TestJob::build).toList();
    Cluster cluster =
        new Cluster() {
          @Override
          public Snapshot observe() {
            return new Snapshot(Instant.EPOCH.plus(Duration.ofHours(1)), NODES, states);
          }

          @Override
          public void apply(List<Change> changes) {}
        };
    return new SchedulingLoop(cluster, new KastorPolicy(TestOptions.USUAL)).tick();
  }

  private static int given(Round round, String name) {
    return round.plan().allocation(new JobId("test", name)).replicas();
  }

  @Test
  void beginsWithAllThatIsFreeWithinItsBounds() {
    assertThat(given(round(restarting("a", 2, 8)), "a")).isEqualTo(8);
    assertThat(given(round(restarting("a", 2, 4)), "a")).isEqualTo(4);
    Round beside = round(restarting("a", 2, 8), job("b").on("n1", 4).pinned());
    assertThat(given(beside, "a")).isEqualTo(4);
  }

  @Test
  void isNotResizedWhileItsSpeedIsNotKnown() {
    Round alone = round(restarting("a", 2, 8).on("n1", 2));
    assertThat(alone.changes()).as("six GPUs are free").isEmpty();
    Round newcomer = round(restarting("a", 2, 8).on("n1", 4), job("b").replicas(1, 4));
    assertThat(given(newcomer, "a")).isEqualTo(4);
    assertThat(given(newcomer, "b")).isEqualTo(4);
  }

  @Test
  void isSizedByWhatWasMeasured() {
    Round linear = round(restarting("a", 1, 8).on("n1", 2).model(LINEAR, 2));
    assertThat(given(linear, "a")).isEqualTo(8);
    Allocation both = new Allocation(new TreeMap<>(Map.of("n1", 4, "n2", 4)));
    Round flat =
        round(
            restarting("a", 1, 8).on(both).model(FLAT, 8),
            job("b").replicas(4, 4).model(LINEAR, 4).age(Duration.ofHours(1)));
    assertThat(given(flat, "a")).as("it gains nothing from more").isBetween(1, 4);
    assertThat(given(flat, "b")).isEqualTo(4);
    Round nothingToGain = round(restarting("a", 1, 8).on("n1", 2).model(FLAT, 2));
    assertThat(nothingToGain.changes()).isEmpty();
  }
}
