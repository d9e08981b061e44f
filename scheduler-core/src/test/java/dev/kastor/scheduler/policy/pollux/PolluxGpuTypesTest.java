package dev.kastor.scheduler.policy.pollux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pollux knows one kind of GPU; its plans must hold on clusters of several all the same. */
final class PolluxGpuTypesTest {
  private static final BatchLimits LIMITS = new BatchLimits(64, 4096, 8, 256, true);
  private static final List<Node> NODES =
      List.of(
          new Node("n0", "slow", 4),
          new Node("n1", "slow", 4),
          new Node("n2", "fast", 8),
          new Node("n3", "other", 2));

  private static SequencedMap<String, GpuTraits> traits(int slowUnit, int fastUnit) {
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>();
    if (slowUnit > 0) {
      traits.put("slow", new GpuTraits(LIMITS, slowUnit, 1));
    }
    traits.put("fast", new GpuTraits(LIMITS, fastUnit, 2));
    return traits;
  }

  private static JobState job(
      String name, SequencedMap<String, GpuTraits> traits, boolean known, Allocation allocation) {
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>();
    params.put("fast", new ThroughputParams(0.02, 0.002, 0.02, 0.001, 0.01, 0.0005, 1.5));
    return new JobState(
        new JobSpec(
            new JobId("test", name),
            Instant.EPOCH,
            "",
            new Elasticity.Adaptive(1, 8, new AllowedReplicas.Any()),
            1,
            LIMITS,
            "",
            traits),
        allocation,
        known
            ? Optional.of(new GoodputModel(params, new GradientStats(1, 50, 64)))
            : Optional.empty(),
        known ? 8 : 0,
        Optional.empty(),
        Duration.ofHours(1),
        0,
        0,
        Duration.ofSeconds(30),
        false);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void neverMixesTypesNorLeavesThoseOfTheJob(boolean faithful) {
    for (int seed = 0; seed < 6; seed++) {
      Policy policy =
          Policies.create(
              "pollux", faithful ? PolicyContext.published(seed) : PolicyContext.online(seed));
      List<SequencedMap<String, GpuTraits>> kinds =
          List.of(traits(1, 1), traits(0, 1), traits(2, 2), traits(2, 1), new LinkedHashMap<>());
      List<Allocation> held = new ArrayList<>();
      kinds.forEach(kind -> held.add(Allocation.NONE));
      for (int round = 0; round < 4; round++) {
        List<JobState> jobs = new ArrayList<>();
        for (int i = 0; i < kinds.size(); i++) {
          jobs.add(job("job-" + i, kinds.get(i), round > i % 2, held.get(i)));
        }
        Snapshot snapshot = new Snapshot(Instant.EPOCH, NODES, jobs);
        Plan plan = policy.plan(snapshot);
        assertThat(PlanCheck.violations(snapshot, plan)).isEmpty();
        held.replaceAll(allocation -> Allocation.NONE);
        for (int i = 0; i < kinds.size(); i++) {
          held.set(i, plan.allocation(jobs.get(i).id()));
        }
      }
    }
  }

  @Test
  void usesWhatIsKnownOfOneTypeForAll() {
    JobState job = job("job", traits(1, 1), true, Allocation.NONE);
    Plan plan =
        Policies.create("pollux", PolicyContext.online(1))
            .plan(new Snapshot(Instant.EPOCH, NODES.subList(0, 2), List.of(job)));
    assertThat(plan.allocation(job.id()).replicas()).isGreaterThan(1);
  }
}
