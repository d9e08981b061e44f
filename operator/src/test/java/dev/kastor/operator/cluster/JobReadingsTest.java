package dev.kastor.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.GoodputSpec.Mode;
import dev.kastor.crds.Pin;
import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.Allocation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobReadingsTest {
  private static final AllocationStatus GIVEN =
      new AllocationStatus(
          3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "It grew.");

  private final JobReadings readings = new JobReadings();

  @Test
  void theSameVersionIsReadOnce() {
    TrainingJob job = job(1, 4);
    assertThat(read(job, GIVEN)).isSameAs(read(job, GIVEN));
  }

  @Test
  void anAllocationThatIsNewerThanTheJobIsSeen() {
    TrainingJob job = job(1, 4);
    assertThat(read(job, null).allocation()).isEqualTo(Allocation.NONE);
    JobReading after = read(job, GIVEN);
    assertThat(after.allocation()).isEqualTo(Allocation.on("n1", 3));
    assertThat(after.since()).contains(Instant.parse("2026-01-01T00:00:30Z"));
  }

  @Test
  void aNewStatusLeavesWhatWasAskedFor() {
    JobReading before = read(job(1, 4), null);
    JobReading after = read(job(1, 4), null);
    assertThat(after).isNotSameAs(before);
    assertThat(after.asked()).isSameAs(before.asked());
  }

  @Test
  void aNewSpecOrPinIsReadAnew() {
    assertThat(read(job(1, 4), null).spec().elasticity().max()).isEqualTo(4);
    assertThat(read(job(2, 8), null).spec().elasticity().max()).isEqualTo(8);
    TrainingJob pinned = job(2, 8);
    pinned.getMetadata().setAnnotations(Map.of(Pin.ANNOTATION, "2"));
    assertThat(read(pinned, null).spec().elasticity().max()).isEqualTo(2);
    TrainingJob wrong = job(2, 8);
    wrong.getMetadata().setAnnotations(Map.of(Pin.ANNOTATION, "9"));
    assertThat(read(wrong, null).asked().pinProblem()).isPresent();
  }

  @Test
  void aSpecThatContradictsItselfIsNoObstacleToOthers() {
    TrainingJob bad = TestJobs.job("x".repeat(64), 1, 1, Mode.Fixed);
    List<JobReading> all = readings.of(List.of(bad, job(1, 4)), _ -> null);
    assertThat(all.getFirst().asked().problem().orElseThrow()).contains("63");
    assertThatThrownBy(all.getFirst()::spec).hasMessageContaining("63");
    assertThat(all.getLast().asked().problem()).isEmpty();
  }

  private JobReading read(TrainingJob job, @Nullable AllocationStatus given) {
    return readings.of(List.of(job), _ -> given).getFirst();
  }

  /** A fresh object of a generation of its own. */
  private static TrainingJob job(long generation, int max) {
    TrainingJob job = TestJobs.job("bert", 1, max, Mode.Adaptive);
    job.getMetadata().setGeneration(generation);
    return job;
  }
}
