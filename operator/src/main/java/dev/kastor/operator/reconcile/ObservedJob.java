package dev.kastor.operator.reconcile;

import dev.kastor.crds.trainingjob.FaultToleranceSpec;
import dev.kastor.operator.lifecycle.Deadlines;
import dev.kastor.operator.pods.Failures;
import dev.kastor.operator.status.JobReason;
import dev.kastor.protocol.Outcome;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Facts about an unfinished job that one pass found; its next {@link JobAction} follows from them
 * alone.
 *
 * @param unusable why its spec or template can have no pods; empty if it can
 * @param gang whether it runs a template of its own, all pods or none
 * @param completed the outcome that its replicas reported for the declared work
 * @param succeeded how many pods a gang has if all of them succeeded, else 0
 * @param failures the failed pods that count
 * @param tolerance what happens when replicas fail, with all defaults
 * @param deadline where it stands with its deadlines
 * @param suspended whether the user wants it to hold nothing
 * @param forKueue whether it has to be suspended until Kueue admits it
 * @param reported whether its status shows a phase
 */
record ObservedJob(
    Optional<Unusable> unusable,
    boolean gang,
    Optional<Outcome> completed,
    int succeeded,
    Failures failures,
    FaultToleranceSpec tolerance,
    Deadlines.Verdict deadline,
    boolean suspended,
    boolean forKueue,
    boolean reported) {
  /** Reason for which a job can have no pods. */
  record Unusable(JobReason reason, String message) {}

  /** A job of which nothing else counts. */
  static ObservedJob unusable(JobReason reason, String message) {
    return new ObservedJob(
        Optional.of(new Unusable(reason, message)),
        false,
        Optional.empty(),
        0,
        new Failures(List.of(), List.of()),
        new FaultToleranceSpec(null, null, null),
        new Deadlines.Verdict.InTime(Instant.MAX),
        false,
        false,
        true);
  }
}
