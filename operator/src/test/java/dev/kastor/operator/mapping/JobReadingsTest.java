package dev.kastor.operator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.model.Allocation;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobReadingsTest {
  private static final AllocationStatus GIVEN =
      new AllocationStatus(
          3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "It grew.", null, null);

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
  void aTimeThatCannotBeReadIsNone() {
    var forged =
        new AllocationStatus(3, Map.of("n1", 3), null, 5, "yesterday", "Grown", "", null, null);
    JobReading reading = read(job(1, 4), forged);
    assertThat(reading.since()).isEmpty();
    assertThat(reading.allocation()).isEqualTo(Allocation.on("n1", 3));
  }

  @Test
  void moreThanAnIntHoldsWasGivenByNobody() {
    var forged =
        new AllocationStatus(
            3,
            Map.of("n1", Integer.MAX_VALUE, "n2", 2),
            null,
            5,
            "2026-01-01T00:00:30Z",
            "x",
            "",
            null,
            null);
    assertThat(read(job(1, 4), forged).allocation()).isEqualTo(Allocation.NONE);
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
    assertThat(all.getLast().asked().problem().orElseThrow()).contains("63");
    assertThatThrownBy(all.getLast()::spec).hasMessageContaining("63");
    assertThat(all.getFirst().asked().problem()).isEmpty();
  }

  @Test
  void jobsComeInTheOrderInWhichTheyWereSubmittedWhoeverComesAndGoes() {
    Random random = new Random(7);
    List<TrainingJob> there = new ArrayList<>();
    for (int round = 0; round < 50; round++) {
      there.removeIf(_ -> random.nextInt(4) == 0);
      for (int i = 0; i < 5; i++) {
        TrainingJob job = TestJobs.job("job-%d-%d".formatted(round, i), 1, 1, Mode.Fixed);
        // Some at the same moment, and some that are heard of late.
        job.getMetadata()
            .setCreationTimestamp("2026-01-01T00:00:%02dZ".formatted(random.nextInt(60)));
        there.add(job);
      }
      Collections.shuffle(there, random);
      List<JobReading> all = readings.of(there, _ -> null);
      assertThat(all).hasSize(there.size());
      assertThat(all)
          .isSortedAccordingTo(
              Comparator.comparing((JobReading reading) -> reading.spec().submitted())
                  .thenComparing(JobReading::id));
    }
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
