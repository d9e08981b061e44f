package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.PlanCheck;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every plan keeps to, on thousands of random clusters. */
final class KastorRulesTest {
  private static final int SCENES = 300;
  private static final int MANY_SCENES = 1500;

  private static Plan plan(Snapshot snapshot) {
    return new KastorPolicy(TestOptions.USUAL).plan(snapshot);
  }

  @Tag("slow")
  @Test
  @Tag("never-retried")
  void keepsCapacityBoundsTypesAndPins() {
    keepsRules(SCENES);
  }

  @Test
  @Tag("never-retried")
  @Tag("nightly")
  void keepsCapacityBoundsTypesAndPinsInManyScenes() {
    keepsRules(MANY_SCENES);
  }

  private static void keepsRules(int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      assertThat(PlanCheck.violations(snapshot, plan(snapshot))).as("seed %d", seed).isEmpty();
    }
  }

  @Tag("slow")
  @Test
  void givesNewAllocationsOneGpuTypeOnly() {
    givesOneGpuType(SCENES);
  }

  @Test
  @Tag("nightly")
  void givesNewAllocationsOneGpuTypeOnlyInManyScenes() {
    givesOneGpuType(MANY_SCENES);
  }

  private static void givesOneGpuType(int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Map<String, String> types = new HashMap<>();
      snapshot.nodes().forEach(node -> types.put(node.name(), node.gpuType()));
      Plan plan = plan(snapshot);
      for (JobState job : snapshot.jobs()) {
        Allocation given = plan.allocation(job.id());
        if (!given.equals(job.allocation())) {
          Set<String> used = new HashSet<>();
          given.replicasByNode().keySet().forEach(node -> used.add(types.getOrDefault(node, "?")));
          assertThat(used).as("seed %d %s", seed, job.id()).hasSizeLessThanOrEqualTo(1);
        }
      }
    }
  }

  @Tag("slow")
  @Test
  void saysWhyInFiniteNumbers() {
    saysWhy(SCENES);
  }

  @Test
  @Tag("nightly")
  void saysWhyInFiniteNumbersInManyScenes() {
    saysWhy(MANY_SCENES);
  }

  private static void saysWhy(int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      Snapshot snapshot = RandomScene.of(seed);
      Plan plan = plan(snapshot);
      for (JobState job : snapshot.jobs()) {
        Reason reason = plan.reason(job.id());
        assertThat(reason.numbers().values())
            .as("seed %d %s %s", seed, job.id(), reason)
            .allMatch(number -> Double.isFinite(number));
      }
    }
  }
}
