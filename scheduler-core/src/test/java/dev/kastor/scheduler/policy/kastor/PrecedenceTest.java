package dev.kastor.scheduler.policy.kastor;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.TestJob;
import dev.kastor.scheduler.plan.Plan;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Priorities and weights of queues, among jobs that are otherwise alike. */
final class PrecedenceTest {
  private static Plan plan(int slots, List<JobState> jobs, Map<String, Queue> queues) {
    List<Node> nodes = List.of(new Node("n0", "a", slots));
    return new KastorPolicy(TestOptions.USUAL)
        .plan(new Snapshot(Instant.EPOCH, nodes, jobs, queues));
  }

  private static TestJob alike(String name) {
    return job(name)
        .model(TestJob.SCALABLE, 4)
        .steps(10, 100_000)
        .age(Duration.ofMinutes(1))
        .sinceChange(Duration.ofHours(1));
  }

  private static TestJob gang(String name) {
    return alike(name).elasticity(new Elasticity.Rigid(4));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1000, Integer.MAX_VALUE})
  void theHigherPriorityGetsTheOnlyGpus(int priority) {
    for (int place = 0; place < 3; place++) {
      int high = place;
      List<JobState> jobs =
          IntStream.range(0, 3)
              .mapToObj(i -> gang("job-" + i).priority(i == high ? priority : 0).build())
              .toList();
      Plan plan = plan(4, jobs, Map.of());
      for (int i = 0; i < 3; i++) {
        assertThat(plan.allocation(jobs.get(i).id()).replicas()).isEqualTo(i == high ? 4 : 0);
      }
    }
  }

  @Test
  void theHigherPriorityTakesGpusFromTheLower() {
    JobState low = gang("low").on("n0", 4).build();
    JobState high = gang("high").priority(1).build();
    Plan plan = plan(4, List.of(low, high), Map.of());
    assertThat(plan.allocation(high.id()).replicas()).isEqualTo(4);
    assertThat(plan.reason(low.id()).code()).isEqualTo("Stopped");
  }

  @Test
  void manyLowLevelsBringNobodyAboveThemCloserTogether() {
    List<JobState> jobs =
        IntStream.rangeClosed(-500, 3)
            .mapToObj(priority -> gang("job" + priority).priority(priority).build())
            .toList();
    Priorities priorities = new Priorities(jobs);
    double[] weights = jobs.stream().mapToDouble(priorities::weight).toArray();
    for (int i = 1; i < weights.length; i++) {
      boolean high = i >= weights.length - 5;
      assertThat(weights[i] / weights[i - 1])
          .as("level %d", i)
          .isCloseTo(high ? 10 : Math.pow(10, 1.0 / 498), within(1e-9));
    }
    assertThat(weights[weights.length - 1] / weights[0]).isCloseTo(1e6, within(1e-3));
  }

  @Test
  void whoRunsGoesOnWhereAnotherHasAsMuchLeft() {
    JobState running = gang("z").steps(11, 100_000).on("n0", 4).build();
    JobState waiting = gang("a").build();
    Plan plan = plan(4, List.of(waiting, running), Map.of());
    assertThat(plan.allocation(running.id())).isEqualTo(running.allocation());
  }

  private static int share(double weight) {
    List<JobState> jobs =
        List.of(
            alike("a").replicas(1, 16).profiled(16).queue("research").build(),
            alike("b").replicas(1, 16).profiled(16).build());
    Map<String, Queue> queues = Map.of("research", new Queue("research", weight));
    Plan plan = plan(16, jobs, queues);
    return plan.allocation(jobs.getFirst().id()).replicas();
  }

  @Test
  void moreWeightIsNeverALessShare() {
    int last = 0;
    for (double weight : new double[] {0.01, 0.1, 0.3, 1, 3, 10, 100}) {
      int share = share(weight);
      assertThat(share).as("weight %s", weight).isGreaterThanOrEqualTo(last);
      last = share;
    }
    assertThat(share(0.01)).isLessThan(share(100));
  }
}
