package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.measured.SiaApplications;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rigid, strong-scaling and pipelined jobs under Sia. */
final class SiaCategoriesTest {
  /** What a policy gave, by job. */
  private record Watched(Policy policy, Map<String, List<Allocation>> given) implements Policy {
    @Override
    public Plan plan(Snapshot snapshot) {
      Plan plan = policy.plan(snapshot);
      for (Map.Entry<JobId, Plan.Assignment> one : plan.assignments().entrySet()) {
        if (!one.getValue().allocation().isEmpty()) {
          given
              .computeIfAbsent(one.getKey().name(), name -> new ArrayList<>())
              .add(one.getValue().allocation());
        }
      }
      return plan;
    }
  }

  private static Workload.Job job(
      String name, String application, int replicas, int batch, Category category) {
    return new Workload.Job(
        name, 30, application, 1, Workload.UNBOUNDED, replicas, batch, category);
  }

  private static Map<String, List<Allocation>> replay(Workload.Job... jobs) throws Exception {
    Map<String, Application> applications =
        SiaApplications.read(PublishedTraces.path("sia/profiles"));
    Map<String, List<Allocation>> given = new HashMap<>();
    Replay replay =
        new TickSimulation(
                TickSettings.of(Mode.SIA),
                ClusterShape.parse("aws=6x4,dgx-ext=2x8,rtx=3x8"),
                new Workload("made", List.of(jobs)),
                applications,
                Policies.factory("sia", PolicyContext.published(1))
                    .map(policy -> new Watched(policy, given)),
                1,
                (seconds, done, all) -> {})
            .run();
    assertThat(replay.jobs()).allMatch(job -> job.finishSeconds() > 0);
    return given;
  }

  @Tag("slow")
  @Test
  void rigidJobsKeepTheirSizeAndStrongScalingOnesTheirBound() throws Exception {
    Map<String, List<Allocation>> given =
        replay(
            job("rigid", "cifar10", 6, 2048, Category.RIGID),
            job("bounded", "cifar10", 4, 1024, Category.SCALE_GPUS),
            job("free", "cifar10", 4, 1024, Category.ADAPTIVE));
    assertThat(given.get("rigid")).allMatch(one -> one.replicas() == 6);
    assertThat(given.get("bounded")).allMatch(one -> one.replicas() <= 4);
    assertThat(given.get("free")).anyMatch(one -> one.replicas() > 4);
  }

  @Tag("slow")
  @Test
  void pipelinesGetWholeReplicasOnTypesThatHoldThem() throws Exception {
    Map<String, List<Allocation>> given =
        replay(
            job("gpt", "gpt_pmp", 1, 48, Category.ADAPTIVE),
            job("cifar", "cifar10", 4, 1024, Category.ADAPTIVE));
    assertThat(given.get("gpt")).isNotEmpty().allMatch(one -> !one.node(0).startsWith("aws"));
    assertThat(given.get("gpt"))
        .allMatch(one -> one.slotsPerReplica() == (one.node(0).startsWith("rtx") ? 8 : 2));
    assertThat(given.get("gpt")).anyMatch(one -> one.slots() > 8);
  }

  @Tag("slow")
  @Test
  void saysWhichTypesAnApplicationWasMeasuredOn() throws Exception {
    Map<String, Application> applications =
        SiaApplications.read(PublishedTraces.path("sia/profiles"));
    assertThatThrownBy(
            () -> {
              new TickSimulation(
                  TickSettings.of(Mode.SIA),
                  ClusterShape.parse("aws=2x4"),
                  new Workload("made", List.of(job("g", "gpt_pmp", 1, 48, Category.ADAPTIVE))),
                  applications,
                  Policies.factory("sia", PolicyContext.published(1)),
                  1,
                  (seconds, done, all) -> {});
            })
        .hasMessageContaining("gpt_pmp")
        .hasMessageContaining("dgx-ext, rtx")
        .hasMessageContaining("aws=2x4");
  }
}
