package dev.kastor.scheduler.plan;

import static dev.kastor.scheduler.model.TestJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;

/** Plans that name what the snapshot has not. */
final class PlanCheckTest {
  @Test
  void aJobThatTheSnapshotLacksIsNamedAndTheOthersAreNot() {
    JobState known = job("known").build();
    JobId stranger = new JobId("test", "stranger");
    Plan.Assignment one =
        new Plan.Assignment(Allocation.on("n0", 1), Reason.of("Test", "As the test says."));
    SequencedMap<JobId, Plan.Assignment> given = new LinkedHashMap<>();
    given.put(known.id(), one);
    Snapshot snapshot =
        new Snapshot(
            Instant.EPOCH,
            List.of(new Node("n0", known.spec().gpuType(), 2)),
            List.of(known),
            Map.of());
    assertThat(PlanCheck.violations(snapshot, new Plan(given))).isEmpty();
    given.put(stranger, one);
    assertThat(PlanCheck.violations(snapshot, new Plan(given)))
        .containsExactly(new PlanViolation.UnknownJob(stranger));
  }
}
