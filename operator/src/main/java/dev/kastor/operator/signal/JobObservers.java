package dev.kastor.operator.signal;

import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All observers as one; a failing observer is logged and does not disturb the others. */
@Singleton
public final class JobObservers {
  private static final Logger LOG = LoggerFactory.getLogger(JobObservers.class);

  private final List<JobObserver> observers;

  @Inject
  JobObservers(@Any Instance<JobObserver> observers) {
    this(observers.stream().toList());
  }

  /** The given observers only. */
  public JobObservers(List<JobObserver> observers) {
    this.observers = List.copyOf(observers);
  }

  /** See {@link JobObserver#allocated}. */
  public void allocated(JobId job, Allocation allocation, Reason reason, Instant at) {
    each(observer -> observer.allocated(job, allocation, reason, at));
  }

  /** See {@link JobObserver#reported}. */
  public void reported(
      JobId job, TelemetryReport report, Optional<GradientStats> gradient, Instant at) {
    each(observer -> observer.reported(job, report, gradient, at));
  }

  /** See {@link JobObserver#phase}. */
  public void phase(JobId job, TrainingJobStatus.Phase phase, Instant at) {
    each(observer -> observer.phase(job, phase, at));
  }

  private void each(Consumer<JobObserver> call) {
    for (JobObserver observer : observers) {
      try {
        call.accept(observer);
      } catch (RuntimeException e) {
        LOG.warn("an observer of jobs failed", e);
      }
    }
  }
}
