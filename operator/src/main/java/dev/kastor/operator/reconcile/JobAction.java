package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.lifecycle.Deadlines;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.status.JobReason;
import dev.kastor.protocol.Outcome;
import java.util.Optional;

/** Action that is due for an unfinished job. */
sealed interface JobAction {
  /**
   * The job has ended.
   *
   * @param failures failed replicas that count
   */
  record End(Phase phase, JobReason reason, String message, int failures) implements JobAction {}

  /**
   * The job goes on: its pods are brought in line with its allocation.
   *
   * @param late the start to give up first, since it takes too long
   * @param suspend whether it gives its allocation back first
   * @param holdForKueue whether it is suspended for Kueue first
   * @param report whether its owner is told its phase before pods are made, which takes several
   *     requests
   */
  record Steer(
      Optional<Deadlines.Verdict.StartAgain> late,
      boolean suspend,
      boolean holdForKueue,
      boolean report)
      implements JobAction {}

  /** The action that follows from these facts; the first that applies, from top to bottom. */
  static JobAction of(ObservedJob job) {
    Failures failures = job.failures();
    if (job.unusable().isPresent()) {
      ObservedJob.Unusable unusable = job.unusable().get();
      return new End(Phase.Failed, unusable.reason(), unusable.message(), 0);
    }
    if (job.completed().isPresent()) {
      return new End(
          Phase.Succeeded, JobReason.WorkDone, summary(job.completed().get()), failures.count());
    }
    if (job.succeeded() > 0) {
      String message = "All %d pods succeeded.".formatted(job.succeeded());
      return new End(Phase.Succeeded, JobReason.PodsSucceeded, message, failures.count());
    }
    // A container of the user's may mean anything by its exit code.
    if (!job.gang() && failures.permanent().isPresent()) {
      String message = failures.permanent().get().failureMessage();
      return new End(Phase.Failed, JobReason.ProgramFailed, message, failures.count());
    }
    if (failures.exhausted(job.tolerance())) {
      String message =
          "%d replicas failed without progress in between; maxRestarts is %d. The last: %s"
              .formatted(
                  failures.count(),
                  job.tolerance().maxRestarts(),
                  failures.counted().getLast().failureMessage());
      return new End(Phase.Failed, JobReason.TooManyFailures, message, failures.count());
    }
    return switch (job.deadline()) {
      case Deadlines.Verdict.Failed failed ->
          new End(Phase.Failed, failed.reason(), failed.message(), failures.count());
      case Deadlines.Verdict.StartAgain late -> steer(job, Optional.of(late));
      case Deadlines.Verdict.InTime inTime -> steer(job, Optional.empty());
    };
  }

  private static Steer steer(ObservedJob job, Optional<Deadlines.Verdict.StartAgain> late) {
    return new Steer(late, job.suspended(), job.forKueue(), !job.reported());
  }

  private static String summary(Outcome outcome) {
    String metric =
        outcome.metric() == null
            ? ""
            : " %s %.4g.".formatted(outcome.metricName(), outcome.metric());
    return "The declared work is done.%s %d examples lost or repeated."
        .formatted(metric, outcome.lostOrRepeatedExamples());
  }
}
