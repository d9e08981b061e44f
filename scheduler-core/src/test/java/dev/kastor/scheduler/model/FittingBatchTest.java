package dev.kastor.scheduler.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.PlacementShape;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Laws of batches that have to fit a device. */
class FittingBatchTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final List<String> TYPES = List.of("", "a100", "t4");

  @Tag("slow")
  @Test
  void noBatchIsBeyondWhatFitsAndAllOthersStay() {
    Random random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      int most = 8 + random.nextInt(300);
      String limited = TYPES.get(random.nextInt(TYPES.size()));
      JobSpec spec = TestJob.job("bert").build().spec();
      JobSpec fitting = spec.fitting(Map.of(limited, most));
      Optional<GoodputModel> model =
          random.nextBoolean() ? Optional.of(TestJob.SCALABLE) : Optional.empty();
      for (String type : TYPES) {
        PlacementShape shape = new PlacementShape(1, 1 + random.nextInt(8), type);
        Optional<BatchPlan> batch = BatchChoice.choose(fitting, model, shape);
        if (type.equals(limited)) {
          assertThat(batch.orElseThrow().atomicBatchSize()).isLessThanOrEqualTo(most);
          assertThat(batch.orElseThrow().globalBatchSize(shape.replicas()))
              .as("accumulation makes up for it")
              .isGreaterThanOrEqualTo(64);
        } else {
          assertThat(batch).isEqualTo(BatchChoice.choose(spec, model, shape));
        }
      }
    }
  }

  @Test
  void replicasOnSeveralTypesGetWhatFitsEach() {
    JobSpec spec = TestJob.job("bert").build().spec().fitting(Map.of("a100", 100, "t4", 20));
    assertThat(spec.batchLimits("a100+t4").maxAtomicBatch()).isEqualTo(20);
    assertThat(spec.batchLimits("a100").maxAtomicBatch()).isEqualTo(100);
    assertThat(spec.batchLimits("h100").maxAtomicBatch()).isEqualTo(256);
    assertThat(spec.queued("night", 3).onTypes(TYPES).batchLimits("t4").maxAtomicBatch())
        .as("of the same job elsewhere")
        .isEqualTo(20);
  }

  @Test
  void noLimitIsBelowTheSmallestBatchOfTheJob() {
    BatchLimits limits = new BatchLimits(64, 4096, 8, 256, true);
    assertThat(limits.fitting(3)).isEqualTo(new BatchLimits(64, 4096, 4, 8, true));
    assertThat(limits.fitting(20)).isEqualTo(new BatchLimits(64, 4096, 8, 20, true));
    assertThat(limits.fitting(1000)).isEqualTo(limits);
  }

  @Test
  void aJobThatMayNotAccumulateKeepsAllItsSizes() {
    JobSpec spec =
        TestJob.job("bert")
            .replicas(2, 8)
            .build()
            .spec()
            .withBatchLimits(new BatchLimits(64, 4096, 1, 256, false));
    JobSpec seen = facts(spec, Map.of("", 4)).spec();
    for (int replicas = 2; replicas <= 8; replicas++) {
      PlacementShape shape = new PlacementShape(1, replicas, "");
      assertThat(BatchChoice.choose(seen, Optional.empty(), shape)).isPresent();
    }
    assertThat(seen.batchLimits("").maxAtomicBatch()).isEqualTo(32);
  }

  @Test
  void policiesSeeWhatReplicasFoundOut() {
    JobSpec spec = TestJob.job("bert").build().spec();
    assertThat(facts(spec, Map.of()).spec()).isSameAs(spec);
    assertThat(facts(spec, Map.of("t4", 16)).spec().batchLimits("t4").maxAtomicBatch())
        .isEqualTo(16);
  }

  private static JobState facts(JobSpec spec, Map<String, Integer> mostExamples) {
    Measured measured =
        new Measured(
            Optional.empty(),
            0,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Outlook.NONE,
            mostExamples);
    return new JobFacts(spec, AllocationHistory.NONE, false, measured, false, Optional.empty())
        .state(new AssumedPauses(Duration.ofSeconds(2), Duration.ofSeconds(15)), START);
  }
}
