package dev.kastor.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.lifecycle.Deadlines.Verdict;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.status.JobReason;
import dev.kastor.protocol.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JobActionTest {
  private static final Verdict IN_TIME = new Verdict.InTime(Instant.MAX);
  private static final Verdict LATE = new Verdict.Failed(JobReason.ActiveDeadlineExceeded, "late");

  /** Facts of a job that goes on, with changes for the test. */
  private static final class Facts {
    private boolean gang;
    private Optional<Outcome> completed = Optional.empty();
    private int succeeded;
    private int[] exitCodes = {};
    private Verdict deadline = IN_TIME;
    private boolean suspended;
    private boolean forKueue;
    private boolean reported = true;

    private ObservedJob job() {
      List<PodView> failed =
          IntStream.range(0, exitCodes.length).mapToObj(i -> failed(i, exitCodes[i])).toList();
      return new ObservedJob(
          Optional.empty(),
          gang,
          completed,
          succeeded,
          new Failures(failed, List.of()),
          new FaultToleranceSpec(2, 1, 60),
          deadline,
          suspended,
          forKueue,
          reported);
    }
  }

  @Test
  void aSpecThatCannotBeReadEndsTheJob() {
    assertThat(JobAction.of(ObservedJob.unusable(JobReason.InvalidSpec, "spec.elastic: ...")))
        .isEqualTo(new JobAction.End(Phase.Failed, JobReason.InvalidSpec, "spec.elastic: ...", 0));
  }

  @Test
  void declaredWorkThatIsDoneIsASuccess() {
    assertThat(end(facts -> facts.completed = Optional.of(outcome("accuracy", 0.9744))))
        .isEqualTo(
            new JobAction.End(
                Phase.Succeeded,
                JobReason.WorkDone,
                "The declared work is done. accuracy 0.9744. 3 examples lost or repeated.",
                0));
    assertThat(end(facts -> facts.completed = Optional.of(outcome(null, null))).message())
        .isEqualTo("The declared work is done. 3 examples lost or repeated.");
  }

  @Test
  void doneWorkCountsMoreThanFailuresAndDeadlines() {
    JobAction.End end =
        end(facts -> {
          facts.completed = Optional.of(outcome(null, null));
          facts.exitCodes = new int[] {64, 1, 1};
          facts.deadline = LATE;
        });
    assertThat(end.phase()).isEqualTo(Phase.Succeeded);
    assertThat(end.failures()).isEqualTo(3);
  }

  @Test
  void aGangWhosePodsAllSucceededIsASuccess() {
    JobAction.End end =
        end(facts -> {
          facts.gang = true;
          facts.succeeded = 4;
          facts.exitCodes = new int[] {1};
        });
    assertThat(end)
        .isEqualTo(
            new JobAction.End(
                Phase.Succeeded, JobReason.PodsSucceeded, "All 4 pods succeeded.", 1));
  }

  @Test
  void aFailureThatARestartCannotHelpEndsTheJob() {
    JobAction.End end = end(facts -> facts.exitCodes = new int[] {64});
    assertThat(end.reason()).isEqualTo(JobReason.ProgramFailed);
    assertThat(end.phase()).isEqualTo(Phase.Failed);
    assertThat(end.failures()).isEqualTo(1);
  }

  @Test
  void anExitCodeOfAGangMeansNothing() {
    assertThat(
            steer(facts -> {
              facts.gang = true;
              facts.exitCodes = new int[] {64};
            }))
        .isNotNull();
  }

  @Test
  void moreFailuresThanRestartsEndTheJob() {
    assertThat(steer(facts -> facts.exitCodes = new int[] {1, 1})).isNotNull();
    JobAction.End end = end(facts -> facts.exitCodes = new int[] {1, 1, 137});
    assertThat(end.reason()).isEqualTo(JobReason.TooManyFailures);
    assertThat(end.message())
        .startsWith("3 replicas failed without progress in between; maxRestarts is 2. The last: ");
  }

  @Test
  void aDeadlineThatHasPassedEndsTheJob() {
    JobAction.End end =
        end(facts -> {
          facts.deadline = LATE;
          facts.exitCodes = new int[] {1};
        });
    assertThat(end)
        .isEqualTo(new JobAction.End(Phase.Failed, JobReason.ActiveDeadlineExceeded, "late", 1));
  }

  @Test
  void aStartThatTakesTooLongIsGivenUp() {
    var late = new Verdict.StartAgain(2, JobReason.StartDeadlineExceeded, "slow start");
    assertThat(steer(facts -> facts.deadline = late).late()).contains(late);
    assertThat(steer(facts -> {}).late()).isEmpty();
  }

  @Test
  void aJobThatIsSuspendedGivesItsAllocationBack() {
    assertThat(steer(facts -> facts.suspended = true).suspend()).isTrue();
    assertThat(steer(facts -> {}).suspend()).isFalse();
  }

  @Test
  void aJobOfKueueIsSuspendedFirst() {
    assertThat(steer(facts -> facts.forKueue = true).holdForKueue()).isTrue();
    assertThat(steer(facts -> {}).holdForKueue()).isFalse();
  }

  @Test
  void aJobWithoutAPhaseIsReportedBeforeItsPodsAreMade() {
    assertThat(steer(facts -> facts.reported = false).report()).isTrue();
    assertThat(steer(facts -> {}).report()).isFalse();
  }

  private static JobAction.End end(Consumer<Facts> change) {
    return (JobAction.End) action(change);
  }

  private static JobAction.Steer steer(Consumer<Facts> change) {
    return (JobAction.Steer) action(change);
  }

  private static JobAction action(Consumer<Facts> change) {
    Facts facts = new Facts();
    change.accept(facts);
    return JobAction.of(facts.job());
  }

  private static Outcome outcome(@Nullable String metric, @Nullable Double value) {
    return new Outcome(Outcome.Kind.COMPLETED, null, metric, value, 3, "");
  }

  private static PodView failed(int number, int exitCode) {
    return new PodView(
        "job-" + number,
        number,
        "n1",
        PodView.State.FAILED,
        false,
        Instant.EPOCH,
        Instant.EPOCH.plusSeconds(number),
        exitCode,
        Optional.empty());
  }
}
