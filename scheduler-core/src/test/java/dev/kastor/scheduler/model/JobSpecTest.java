package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.goodput.BatchLimits;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Copies of a specification that change one thing keep all others. */
final class JobSpecTest {
  private static final JobSpec ALL =
      TestJob.job("a")
          .family("bert")
          .queue("research")
          .priority(2)
          .slotsPerReplica(4)
          .gpuType("t4")
          .byGpuType("t4")
          .build()
          .spec()
          .fitting(Map.of("t4", 128));

  @Test
  void isTheSameAgainOnceAChangeIsUndone() {
    BatchLimits batches = new BatchLimits(32, 64, 1, 2, false);
    same(ALL.withElasticity(new Elasticity.Rigid(3)).withElasticity(ALL.elasticity()));
    same(ALL.withBatchLimits(batches).withBatchLimits(ALL.batchLimits()));
    same(ALL.ofFamily("gpt").ofFamily(ALL.family()));
    same(ALL.queued("night", 1).queued(ALL.queue(), ALL.priority()));
    same(ALL.withSlotsPerReplica(8).withSlotsPerReplica(ALL.slotsPerReplica()));
    same(ALL.fitting(Map.of()).fitting(ALL.mostExamples()));
    assertThat(ALL.onTypes(List.of("a100")).mostExamples()).isEqualTo(ALL.mostExamples());
  }

  private static void same(JobSpec spec) {
    assertThat(spec).isEqualTo(ALL);
  }
}
