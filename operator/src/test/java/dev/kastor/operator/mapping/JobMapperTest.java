package dev.kastor.operator.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.trainingjob.GoodputSpec.Mode;
import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.HeldStatus;
import dev.kastor.operator.TestJobs;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JobMapperTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:01:00Z");

  @Test
  void modeAndBoundsDecideTheElasticity() {
    assertThat(spec(1, 4, Mode.Adaptive).elasticity()).isInstanceOf(Elasticity.Adaptive.class);
    assertThat(spec(1, 4, Mode.Fixed).elasticity()).isInstanceOf(Elasticity.Elastic.class);
    assertThat(spec(4, 4, Mode.Fixed).elasticity()).isEqualTo(new Elasticity.Rigid(4));
  }

  @Test
  void aFixedBatchHasNoRoom() {
    assertThat(spec(1, 4, Mode.Adaptive).batchLimits())
        .isEqualTo(new BatchLimits(32, 512, 1, 256, true));
    assertThat(spec(1, 4, Mode.Fixed).batchLimits())
        .isEqualTo(new BatchLimits(32, 32, 1, 256, true));
  }

  @Test
  void carriesOverWhatTheJobHas() {
    var allocation =
        new AllocationStatus(
            3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "It grew.", null, null);
    JobState state =
        JobMapper.state(
            TestJobs.job("bert", 1, 4, Mode.Adaptive),
            allocation,
            Measured.NOTHING,
            true,
            true,
            NOW);
    assertThat(state.id()).isEqualTo(new JobId("team", "bert"));
    assertThat(state.allocation()).isEqualTo(Allocation.on("n1", 3));
    assertThat(state.age()).isEqualTo(Duration.ofMinutes(1));
    assertThat(state.sinceChange()).isEqualTo(Duration.ofSeconds(30));
    assertThat(state.pinned()).isTrue();
    assertThat(state.model()).isEmpty();
  }

  @Test
  void serviceIsWhatItHeldWhateverItsSizeIsNow() {
    var held = new HeldStatus(4, "2026-01-01T00:00:10Z", 100);
    var allocation =
        new AllocationStatus(
            3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "Grew.", null, held);
    JobState state = state(allocation);
    assertThat(state.attainedService()).isEqualTo(100 + 3 * 30);
    assertThat(state.restarts()).isEqualTo(3);
    assertThat(state.unsaved()).as("never saved").isEqualTo(Duration.ofSeconds(50));
    var none =
        new AllocationStatus(
            0, Map.of(), null, 6, "2026-01-01T00:00:30Z", "Suspended", "Is.", null, held);
    assertThat(state(none).attainedService()).as("while it holds nothing").isEqualTo(100);
    assertThat(state(none).unsaved()).isZero();
  }

  @Test
  void aStatusOfAnotherHandCountsAsNothing() {
    var forged = new HeldStatus(-7, "yesterday", Double.NaN);
    var allocation =
        new AllocationStatus(
            3, Map.of("n1", 3), null, 5, "2026-01-01T00:00:30Z", "Grown", "Grew.", null, forged);
    assertThat(state(allocation).attainedService()).isEqualTo(3 * 30);
    assertThat(state(allocation).restarts()).isZero();
    assertThat(state(allocation).unsaved()).isEqualTo(Duration.ofSeconds(30));
  }

  private static JobState state(AllocationStatus allocation) {
    return JobMapper.state(
        TestJobs.job("bert", 1, 4, Mode.Adaptive), allocation, Measured.NOTHING, true, true, NOW);
  }

  @Test
  void queueAndPriorityAreThoseOfTheSpec() throws Exception {
    assertThat(spec(1, 4, Mode.Adaptive).queue()).isEmpty();
    assertThat(spec(1, 4, Mode.Adaptive).priority()).isZero();
    TrainingJob job = TestJobs.job("bert", 1, 4, Mode.Adaptive);
    ObjectMapper json = new ObjectMapper();
    ObjectNode spec = json.valueToTree(job.getSpec());
    job.setSpec(
        json.treeToValue(spec.put("queue", "night").put("priority", -5), TrainingJobSpec.class));
    assertThat(JobSpecs.of(job).queue()).isEqualTo("night");
    assertThat(JobSpecs.of(job).priority()).isEqualTo(-5);
  }

  @Test
  void aPinKeepsTheSizeOrThePlace() {
    TrainingJob job = TestJobs.job("bert", 1, 4, Mode.Adaptive);
    Allocation held = Allocation.on("n1", 3);
    assertThat(JobMapper.pinnedHere(job, held)).isFalse();
    pin(job, "here");
    assertThat(JobMapper.pinnedHere(job, held)).isTrue();
    assertThat(JobMapper.pinnedHere(job, Allocation.NONE)).isFalse();
    assertThat(JobSpecs.of(job).elasticity().max()).isEqualTo(4);
    pin(job, "2");
    assertThat(JobMapper.pinnedHere(job, held)).isFalse();
    assertThat(JobSpecs.of(job).elasticity())
        .isEqualTo(new Elasticity.Adaptive(2, 2, new AllowedReplicas.Any()));
    assertThat(JobSpecs.pinProblem(job)).isEmpty();
  }

  @Test
  void aPinThatCannotBeKeptIsIgnoredAndSaid() {
    TrainingJob job = TestJobs.job("bert", 1, 4, Mode.Adaptive);
    pin(job, "5");
    assertThat(JobSpecs.of(job).elasticity().max()).isEqualTo(4);
    assertThat(JobSpecs.pinProblem(job).orElseThrow()).contains("asks for 5", "allows 1 to 4");
    for (String bad : new String[] {"", "Here", "0", "-1", "2.5", "99999"}) {
      pin(job, bad);
      assertThat(JobSpecs.pinProblem(job).orElseThrow()).contains("'" + bad + "'", "ignored");
      assertThat(JobMapper.pinnedHere(job, Allocation.on("n1", 3))).isFalse();
    }
  }

  private static void pin(TrainingJob job, String value) {
    job.getMetadata().setAnnotations(Map.of(Pin.ANNOTATION, value));
  }

  @Test
  void replicasOfSeveralSlotsAreOfTheSpecAndOfWhatWasGiven() {
    TrainingJob job = TestJobs.job("bert", 1, 4, Mode.Fixed);
    assertThat(JobSpecs.of(job).slotsPerReplica()).isEqualTo(1);
    job.setSpec(job.getSpec().withSlotsPerReplica(4));
    assertThat(JobSpecs.of(job).slotsPerReplica()).isEqualTo(4);
    assertThat(JobSpecs.of(job).elasticity().max()).isEqualTo(4);
    Allocation given = JobMapper.allocation(given(2, 4));
    assertThat(given).isEqualTo(Allocation.on("n1", 2, 4));
    assertThat(given.slots()).isEqualTo(8);
    assertThat(JobMapper.withinBounds(JobSpecs.of(job), given)).isTrue();
    assertThat(JobMapper.withinBounds(JobSpecs.of(job), Allocation.on("n1", 2)))
        .as("replicas of another size")
        .isFalse();
  }

  @Test
  void sizesThatNoReplicaCanHaveAreOfNobody() {
    assertThat(JobMapper.allocation(given(2, 0))).isEqualTo(Allocation.NONE);
    assertThat(JobMapper.allocation(given(2, 65))).isEqualTo(Allocation.NONE);
    assertThat(JobMapper.allocation(given(Integer.MAX_VALUE, 2))).isEqualTo(Allocation.NONE);
    assertThat(given(Integer.MAX_VALUE, 64).slots()).isEqualTo(Integer.MAX_VALUE);
    TrainingJob job = TestJobs.job("bert", 1, 4, Mode.Fixed);
    job.setSpec(job.getSpec().withSlotsPerReplica(65));
    assertThatThrownBy(() -> JobSpecs.of(job))
        .hasMessageContaining("65 slots but may take 1 to 64")
        .hasMessageContaining("spec.elastic.slotsPerReplica");
  }

  private static AllocationStatus given(int replicas, int slotsPerReplica) {
    return new AllocationStatus(
        replicas,
        Map.of("n1", replicas),
        null,
        1,
        "2026-01-01T00:00:00Z",
        "Started",
        ".",
        null,
        null,
        slotsPerReplica);
  }

  @Test
  void noAllocationIsNothing() {
    assertThat(JobMapper.allocation(null)).isEqualTo(Allocation.NONE);
  }

  @Test
  void aNameThatIsNoLabelIsRefused() {
    assertThatThrownBy(() -> JobSpecs.of(TestJobs.job("x".repeat(64), 1, 1, Mode.Fixed)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("63");
  }

  private static JobSpec spec(int min, int max, Mode mode) {
    return JobSpecs.of(TestJobs.job("bert", min, max, mode));
  }
}
