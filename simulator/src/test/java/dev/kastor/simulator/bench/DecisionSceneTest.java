package dev.kastor.simulator.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Plan;
import dev.kastor.scheduler.plan.Policy;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.PolicyFactory;
import dev.kastor.scheduler.policy.registry.Policies;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DecisionSceneTest {
  private static final DecisionScene.Turnover TURNOVER = new DecisionScene.Turnover(0.01, 0.01);

  private static Map<JobId, JobState> byId(Snapshot snapshot) {
    Map<JobId, JobState> jobs = new HashMap<>();
    snapshot.jobs().forEach(job -> jobs.put(job.id(), job));
    return jobs;
  }

  @Test
  void aboutTwoPercentOfTheJobsChange() {
    DecisionScene scene = new DecisionScene(Control.SIZE_AND_BATCH, 1000, 512, TURNOVER);
    Plan nothing = new Plan(new LinkedHashMap<>());
    int left = 0;
    int refitted = 0;
    for (int i = 0; i < 20; i++) {
      Map<JobId, JobState> before = byId(scene.snapshot());
      scene.carryOut(nothing);
      Map<JobId, JobState> after = byId(scene.snapshot());
      assertThat(after).hasSize(1000);
      for (JobState job : before.values()) {
        JobState same = after.get(job.id());
        left += same == null ? 1 : 0;
        refitted += same != null && !same.model().equals(job.model()) ? 1 : 0;
      }
    }
    assertThat(left / 20_000.0).isCloseTo(0.01, within(0.003));
    assertThat(refitted / 20_000.0).isCloseTo(0.01, within(0.003));
  }

  @Test
  void oneJobComesOrGoesAndTheOthersStayAsTheyAre() {
    PolicyFactory factory = Policies.factory("srtf", PolicyContext.online(1));
    Policy policy = factory.create();
    DecisionScene scene = new DecisionScene(factory.traits().control(), 30, 128, TURNOVER);
    Plan plan = policy.plan(scene.snapshot());
    scene.carryOutAndArrive(plan);
    assertThat(scene.snapshot().jobs()).hasSize(31);
    JobState running =
        scene.snapshot().jobs().stream()
            .filter(j -> !j.allocation().isEmpty())
            .findFirst()
            .orElseThrow();
    assertThat(running.sinceChange()).isEqualTo(Duration.ofSeconds(1));
    scene.carryOutAndEnd(policy.plan(scene.snapshot()));
    assertThat(scene.snapshot().jobs()).hasSize(30);
  }
}
