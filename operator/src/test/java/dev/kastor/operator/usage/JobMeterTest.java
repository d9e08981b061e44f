package dev.kastor.operator.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.HeldStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.protocol.Switch;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

// As in the operator's other tests.
@NullUnmarked
class JobMeterTest {
  private static final Instant BEGIN = Instant.parse("2026-03-01T12:00:00Z");
  private static final LocalDate DAY = LocalDate.parse("2026-03-01");

  private final JobMeter meter = meter(job(null, null, null), BEGIN);
  private long version;

  @Test
  void whatIsHeldBeforeTrainingIsStarting() {
    allocate(2, "red", 0);
    meter.reported(2, 0, true, at(30));
    assertThat(usage(30)).isEqualTo(new Usage(0, 0, 60_000, 0, 0, 0));
  }

  @Test
  void trainingIsUsefulAndInefficientInTheRatioMeasured() {
    allocate(2, "red", 0);
    meter.reported(2, 0, true, at(0));
    meter.measured(0.75, at(10));
    assertThat(usage(20))
        .as("nobody knows what the first ten seconds were worth")
        .isEqualTo(new Usage(15_000, 5_000, 0, 0, 0, 20_000));
  }

  @Test
  void whatComesAndDoesNotTrainYetIsRescaling() {
    trainAlone();
    allocate(4, "red", 0);
    meter.reported(1, 1, false, at(5));
    meter.reported(4, 2, true, at(10));
    assertThat(usage(10)).isEqualTo(new Usage(10_000, 0, 0, 30_000, 0, 0));
  }

  @Test
  void whatIsMissingAfterAFailureIsALoss() {
    allocate(4, "red", 0);
    meter.reported(4, 0, true, at(0));
    meter.measured(1, at(0));
    meter.reported(3, 1, false, at(10));
    meter.reported(4, 2, true, at(20));
    assertThat(usage(20)).isEqualTo(new Usage(70_000, 0, 0, 0, 10_000, 0));
  }

  @Test
  void workThatIsDoneAgainIsALossUntilTheJobIsAsFarAsItWas() {
    trainAlone();
    meter.reported(1, 100, true, at(10));
    meter.entered(Phase.Starting, at(20));
    meter.entered(Phase.Running, at(30));
    meter.reported(1, 50, true, at(30));
    meter.reported(1, 100, true, at(45));
    assertThat(usage(50)).isEqualTo(new Usage(25_000, 0, 0, 0, 25_000, 0));
  }

  @Test
  void aJobThatReportsNothingTrainsWhileItRuns() {
    allocate(2, "red", 0);
    meter.entered(Phase.Starting, at(0));
    meter.entered(Phase.Running, at(10));
    meter.entered(Phase.Starting, at(20));
    meter.entered(Phase.Running, at(25));
    assertThat(usage(30)).isEqualTo(new Usage(0, 0, 20_000, 0, 10_000, 30_000));
  }

  @Test
  void theFirstReportSaysHowManyTrain() {
    allocate(4, "red", 0);
    meter.entered(Phase.Running, at(0));
    meter.reported(1, 0, false, at(1));
    assertThat(usage(11)).isEqualTo(new Usage(0, 0, 30_000, 0, 0, 14_000));
  }

  @Test
  void pausesAreTakenFromTheTrainingAfterThem() {
    trainAlone();
    meter.paused(new Switch(2, 1, 1, Switch.Cause.RESCALE, 3));
    meter.paused(new Switch(3, 1, 1, Switch.Cause.FAILURE, 2));
    assertThat(usage(10)).isEqualTo(new Usage(5_000, 0, 0, 3_000, 2_000, 0));
  }

  @Test
  void aDayEndsAtMidnightOfUtc() {
    allocate(1, "red", 0);
    Instant late = BEGIN.plus(Duration.ofHours(13));
    assertThat(meter.days(late))
        .isEqualTo(
            Map.of(
                new QueueDay(DAY, "red"), starting(Duration.ofHours(12)),
                new QueueDay(DAY.plusDays(1), "red"), starting(Duration.ofHours(1))));
  }

  @Test
  void aJobThatMovesCountsForTheQueueThatGave() {
    allocate(1, "red", 0);
    allocate(1, "blue", 10);
    assertThat(meter.days(at(15)))
        .isEqualTo(
            Map.of(
                new QueueDay(DAY, "red"), Usage.of(Usage.Kind.STARTING, 10_000),
                new QueueDay(DAY, "blue"), Usage.of(Usage.Kind.STARTING, 5_000)));
  }

  @Test
  void anOperatorThatStartsGoesOnAndCallsUnknownWhatNobodySaw() {
    allocate(2, "red", 0);
    meter.reported(2, 7, true, at(10));
    meter.measured(1, at(10));
    String text = meter.text(at(20));
    JobMeter next = meter(job(allocation(2, "red", 0), Phase.Running, text), at(60));
    assertThat(sum(next, 60)).isEqualTo(new Usage(20_000, 0, 20_000, 0, 0, 80_000));
    next.measured(1, at(60));
    next.reported(2, 5, true, at(60));
    assertThat(sum(next, 65))
        .as("work that the operator before saw done")
        .isEqualTo(new Usage(20_000, 0, 20_000, 0, 10_000, 80_000));
  }

  @Test
  void whatNobodySawIsOnTheDaysOnWhichItWasHeld() {
    allocate(1, "red", 0);
    Instant late = BEGIN.plus(Duration.ofHours(18));
    JobMeter next = meter(job(allocation(1, "red", 0), Phase.Starting, meter.text(at(0))), late);
    assertThat(next.days(late))
        .isEqualTo(
            Map.of(
                new QueueDay(DAY, "red"),
                    Usage.of(Usage.Kind.UNKNOWN, Duration.ofHours(12).toMillis()),
                new QueueDay(DAY.plusDays(1), "red"),
                    Usage.of(Usage.Kind.UNKNOWN, Duration.ofHours(6).toMillis())));
  }

  @Test
  void aTextThatTellsOfMoreThanWasHeldCountsAsNothing() {
    String text =
        "1 %d 0.0 FAILURES\n%s red 9000000 0 0 0 0 0".formatted(at(1).toEpochMilli(), DAY);
    JobMeter next = meter(job(allocation(2, "red", 0), Phase.Running, text), at(10));
    assertThat(sum(next, 10)).isEqualTo(new Usage(0, 0, 0, 0, 0, 20_000));
    for (String bad :
        new String[] {"", "1", "2 0 0 FAILURES", text + "\n", "1 0 0 X", "1 -1 0 X"}) {
      JobMeter other = meter(job(allocation(2, "red", 0), Phase.Running, bad), at(10));
      assertThat(sum(other, 10)).as(bad).isEqualTo(new Usage(0, 0, 0, 0, 0, 20_000));
    }
  }

  @Test
  void aDecisionThatIsNotStoredChangesNothing() {
    trainAlone();
    meter.stop(at(5));
    meter.deciding(version + 1);
    meter.decided(allocation(1, "red", 0));
    meter.reported(1, 3, true, at(10));
    assertThat(usage(10)).isEqualTo(new Usage(10_000, 0, 0, 0, 0, 0));
  }

  @Test
  void whatIsHeardWhileAnAllocationIsStoredCountsForIt() {
    trainAlone();
    meter.stop(at(10));
    meter.reported(1, 3, true, at(12));
    meter.deciding(++version);
    meter.decided(allocation(3, "red", 10));
    assertThat(usage(15)).isEqualTo(new Usage(15_000, 0, 0, 10_000, 0, 0));
  }

  @Test
  void theDaysOfALongJobAreBounded() {
    allocate(1, "red", 0);
    Instant late = BEGIN.plus(Duration.ofDays(400));
    assertThat(meter.days(late)).hasSize(JobMeter.MOST_DAYS);
    assertThat(meter.days(late).values().stream().mapToLong(Usage::held).sum())
        .isEqualTo(Duration.ofDays(400).toMillis());
  }

  private static JobMeter meter(TrainingJob job, Instant now) {
    return new JobMeter(job, node -> OptionalDouble.of(0), now);
  }

  private void trainAlone() {
    allocate(1, "red", 0);
    meter.reported(1, 0, true, at(0));
    meter.measured(1, at(0));
  }

  private void allocate(int replicas, String queue, int second) {
    version++;
    assertThat(meter.stop(at(second))).isEqualTo(at(second));
    meter.deciding(version);
    meter.decided(allocation(replicas, queue, second));
  }

  private AllocationStatus allocation(int replicas, String queue, int second) {
    return new AllocationStatus(
        replicas,
        Map.of("n", replicas),
        null,
        version,
        at(second).toString(),
        "Start",
        "",
        queue,
        new HeldStatus(1, at(second).toString(), 0));
  }

  private Usage usage(int second) {
    return sum(meter, second);
  }

  private static Usage sum(JobMeter meter, int second) {
    return meter.days(at(second)).values().stream().reduce(Usage.NONE, Usage::plus);
  }

  private static Usage starting(Duration time) {
    return Usage.of(Usage.Kind.STARTING, time.toMillis());
  }

  private static Instant at(int second) {
    return BEGIN.plusSeconds(second);
  }

  static TrainingJob job(AllocationStatus allocation, Phase phase, String usage) {
    TrainingJob job = new TrainingJob();
    job.setMetadata(new ObjectMeta());
    job.setStatus(
        new TrainingJobStatus(
            phase,
            null,
            null,
            allocation,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            usage,
            null,
            null,
            null));
    return job;
  }
}
