package dev.kastor.operator.signal;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import java.time.Instant;
import java.util.Optional;

/**
 * Hears what happens to jobs, after it happened.
 *
 * <p>Every CDI bean of this type is called, from several threads at once and on the path of the
 * event, so it must be quick and must not throw.
 */
public interface JobObserver {
  /** The scheduling loop wrote a new allocation. */
  void allocated(JobId job, Allocation allocation, Reason reason, Instant at);

  /** An accepted report came in; the gradient is the newest reported, else that of the model. */
  void reported(JobId job, TelemetryReport report, Optional<GradientStats> gradient, Instant at);

  /** A job entered a phase. */
  void phase(JobId job, TrainingJobStatus.Phase phase, Instant at);
}
