package dev.kastor.scheduler.policy.kastor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.model.StopPolicy;
import dev.kastor.scheduler.plan.PlanCheck;
import dev.kastor.scheduler.plan.PlanViolation;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Quotas on all that a cluster may hold: types, pipelines, prices, spot and lost nodes, pins. */
final class KastorQuotaTest {
  private static final int SCENES = 1500;

  private static Snapshot scene(long seed) {
    Snapshot scene = RandomScene.of(seed);
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, Queue> queues = new HashMap<>();
    String cohort = random.nextBoolean() ? "c" : "";
    for (String name : new String[] {"", "research", "night"}) {
      if (random.nextInt(4) > 0) {
        Quota quota =
            new Quota(
                random.nextInt(24),
                random.nextBoolean() ? Quota.UNLIMITED : random.nextInt(8),
                random.nextBoolean() ? Quota.UNLIMITED : random.nextInt(8));
        queues.put(
            name,
            new Queue(name, 1 + random.nextInt(3), cohort, Optional.of(quota), StopPolicy.NONE));
      }
    }
    return new Snapshot(scene.now(), scene.nodes(), scene.jobs(), queues);
  }

  @Tag("slow")
  @Test
  @Tag("never-retried")
  void keepsQuotasByItself() {
    keepsQuotas(SCENES / 5);
  }

  @Test
  @Tag("never-retried")
  @Tag("nightly")
  void keepsQuotasByItselfInManyScenes() {
    keepsQuotas(SCENES);
  }

  private static void keepsQuotas(int scenes) {
    for (int seed = 0; seed < scenes; seed++) {
      KastorPolicy policy = new KastorPolicy(TestOptions.USUAL);
      Snapshot snapshot = scene(seed);
      for (int round = 0; round < 3; round++) {
        var plan = policy.plan(snapshot);
        assertThat(PlanCheck.violations(snapshot, plan))
            .extracting(PlanViolation::message)
            .as("seed %d round %d", seed, round)
            .isEmpty();
        snapshot = RandomScene.after(snapshot, plan);
      }
    }
  }

  @Tag("slow")
  @Test
  void comesToRestWhereNothingChanges() {
    int restless = 0;
    for (int seed = 0; seed < SCENES / 3; seed++) {
      KastorPolicy policy = new KastorPolicy(TestOptions.USUAL);
      Snapshot now = scene(seed);
      for (int round = 0; round < 6; round++) {
        now = RandomScene.after(now, policy.plan(now));
      }
      Snapshot last = now;
      var plan = policy.plan(last);
      restless +=
          last.jobs().stream().allMatch(job -> plan.allocation(job.id()).equals(job.allocation()))
              ? 0
              : 1;
    }
    assertThat(restless).as("scenes that still change after six rounds").isLessThan(SCENES / 30);
  }
}
