package dev.kastor.simulator.tick;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.policy.PolicyContext;
import dev.kastor.scheduler.policy.registry.Policies;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.simulator.replay.Mode;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.testkit.PublishedTraces;
import dev.kastor.traces.Application;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Category;
import dev.kastor.traces.measured.PolluxApplications;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What policies may decide of a job, and believe of its batch, in Pollux's mode. */
final class PolluxCategoriesTest {
  private static final ClusterShape CLUSTER = ClusterShape.parse("16x4");

  private static Workload.Job job(String application, int replicas, int batch, Category category) {
    return new Workload.Job(
        application + "-" + category,
        30,
        application,
        1,
        Workload.UNBOUNDED,
        replicas,
        batch,
        category);
  }

  private static Map<String, Application> applications() throws Exception {
    return PolluxApplications.read(PublishedTraces.path("pollux/applications"));
  }

  private static JobSpec spec(Workload.Job job, Control control) throws Exception {
    Application application = Objects.requireNonNull(applications().get(job.application()));
    return new PolluxRules(CLUSTER).spec(job, application, control);
  }

  @Tag("slow")
  @Test
  void categoriesBoundWhatAPolicyMayDecide() throws Exception {
    JobSpec rigid = spec(job("cifar10", 6, 2048, Category.RIGID), Control.SIZE_AND_BATCH);
    assertThat(rigid.elasticity()).isEqualTo(new Elasticity.Rigid(6));
    assertThat(rigid.batchLimits().targetGlobalBatch()).isEqualTo(2048);
    JobSpec bounded = spec(job("cifar10", 6, 2048, Category.SCALE_GPUS), Control.SIZE_AND_BATCH);
    assertThat(bounded.elasticity()).isInstanceOf(Elasticity.Elastic.class);
    assertThat(bounded.elasticity().max()).isEqualTo(6);
    JobSpec free = spec(job("cifar10", 6, 2048, Category.ADAPTIVE), Control.SIZE_AND_BATCH);
    assertThat(free.elasticity()).isInstanceOf(Elasticity.Adaptive.class);
    assertThat(free.elasticity().max()).isGreaterThan(6);
    JobSpec oneBatch = spec(job("ncf", 1, 32768, Category.ADAPTIVE), Control.SIZE_AND_BATCH);
    assertThat(oneBatch.elasticity()).isInstanceOf(Elasticity.Elastic.class);
  }

  @Tag("slow")
  @Test
  void anUntunedJobMayBelieveInAnyBatch() throws Exception {
    BatchLimits limits =
        spec(job("imagenet", 4, 0, Category.ADAPTIVE), Control.SIZE_AND_BATCH).batchLimits();
    assertThat(limits.targetGlobalBatch()).isEqualTo(limits.maxGlobalBatch());
    BatchLimits fixed =
        spec(job("imagenet", 4, 0, Category.RIGID), Control.SIZE_AND_BATCH).batchLimits();
    assertThat(fixed.targetGlobalBatch()).isEqualTo(fixed.initialGlobalBatch());
  }

  @Tag("slow")
  @Test
  void siaBelievesInTheBatchThatAJobWasTunedFor() throws Exception {
    Replay replay =
        new TickSimulation(
                TickSettings.of(Mode.POLLUX),
                CLUSTER,
                new Workload("made", List.of(job("imagenet", 16, 3200, Category.ADAPTIVE))),
                applications(),
                Policies.factory("sia", PolicyContext.published(1)),
                1,
                (seconds, done, all) -> {})
            .run();
    Replay.Completed done = replay.jobs().getFirst();
    // Alone on 64 GPUs it would take a few days on the one that its initial batch keeps busy.
    assertThat(done.finishSeconds()).isLessThan(24 * 3600);
    assertThat(done.slotSeconds() / done.finishSeconds()).isGreaterThan(8);
  }
}
