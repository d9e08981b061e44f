package dev.kastor.operator.allocation;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.operator.mapping.StoredHistory;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.signal.JobObservers;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.usage.UsageLedger;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.text.PrintableText;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one writer of {@code status.allocation}.
 *
 * <p>Versions only grow, so the larger of what was written and what the cache shows is the truth.
 */
@Singleton
public final class AllocationWriter {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationWriter.class);

  private final StatusWriter writer;
  private final EventRecorder events;
  private final JobObservers observers;
  private final Metrics metrics;
  private final Signals signals;
  private final QueueRules queues;
  private final UsageLedger usage;
  private final Map<String, AllocationStatus> written;
  private final Map<String, Object> locks;

  public AllocationWriter(
      JobRecords records,
      StatusWriter writer,
      EventRecorder events,
      JobObservers observers,
      Metrics metrics,
      Signals signals,
      QueueRules queues,
      UsageLedger usage) {
    written = records.part();
    locks = records.part();
    this.queues = queues;
    this.usage = usage;
    this.writer = writer;
    this.events = events;
    this.observers = observers;
    this.metrics = metrics;
    this.signals = signals;
  }

  /** The newest allocation of a job. */
  public @Nullable AllocationStatus current(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    AllocationStatus cached = status == null ? null : status.allocation();
    AllocationStatus own = written.get(job.getMetadata().getUid());
    if (own == null || (cached != null && cached.version() > own.version())) {
      return cached;
    }
    return own;
  }

  /** Whether the job has slots. */
  public boolean holds(TrainingJob job) {
    return !JobMapper.allocation(current(job)).isEmpty();
  }

  /**
   * What the job is to have; nothing is begun with what no round can have given it.
   *
   * @param begun whether it has pods
   */
  public Allocation target(TrainingJob job, boolean begun) {
    Allocation given =
        job.getSpec().suspended() ? Allocation.NONE : JobMapper.allocation(current(job));
    return begun || JobMapper.withinBounds(JobSpecs.of(job), given) ? given : Allocation.NONE;
  }

  /**
   * Gives the job an allocation; two of one job wait for each other, those of others do not.
   *
   * @param atMost replicas that it may have at any moment on the way there; null without a limit
   * @return whether it was stored; else the job is gone
   */
  public boolean write(
      TrainingJob job, Allocation allocation, @Nullable Integer atMost, Reason reason) {
    boolean stored = store(job, allocation, atMost, reason);
    if (stored) {
      events.normal(job, reason.code(), reason.message());
    }
    return stored;
  }

  private boolean store(
      TrainingJob job, Allocation allocation, @Nullable Integer atMost, Reason reason) {
    synchronized (locks.computeIfAbsent(job.getMetadata().getUid(), uid -> new Object())) {
      return storeAlone(job, allocation, atMost, reason);
    }
  }

  /**
   * An allocation as it is stored, given to a job in this queue; empty for none.
   *
   * @param before the allocation that the job had; null if it never had one
   */
  public static AllocationStatus status(
      @Nullable AllocationStatus before,
      Allocation allocation,
      @Nullable Integer atMost,
      long version,
      Instant since,
      Reason reason,
      String queue) {
    return new AllocationStatus(
        allocation.replicas(),
        Map.copyOf(allocation.replicasByNode()),
        atMost,
        version,
        since.toString(),
        reason.code(),
        PrintableText.line(reason.message()),
        queue.isEmpty() ? null : queue,
        StoredHistory.held(StoredHistory.of(before).next(allocation, since)),
        allocation.slotsPerReplica() == 1 ? null : allocation.slotsPerReplica());
  }

  private boolean storeAlone(
      TrainingJob job, Allocation allocation, @Nullable Integer atMost, Reason reason) {
    AllocationStatus before = current(job);
    Instant now = usage.stop(job);
    AllocationStatus inForce = before;
    AllocationStatus after;
    try {
      long version = before == null ? 1 : before.version() + 1;
      String queue = queues.directory().of(job, before);
      after = status(before, allocation, atMost, version, now, reason, queue);
      String used = usage.deciding(job, version, now);
      if (!writer.patch(job, Map.of("allocation", after, "usage", used))) {
        return false;
      }
      inForce = after;
    } finally {
      usage.decided(job, inForce);
    }
    written.put(job.getMetadata().getUid(), after);
    metrics.reallocated(JobMapper.allocation(before), allocation);
    JobId id = Labels.id(job);
    LOG.info(
        "{}: {} -> {} replicas on {}: {} {}",
        id,
        before == null ? 0 : before.replicas(),
        after.replicas(),
        after.nodes(),
        reason.code(),
        reason.message());
    observers.allocated(id, allocation, reason, now);
    signals.job(id);
    return true;
  }

  /** Takes away what the job has, if it has anything. */
  public void release(TrainingJob job, Reason reason) {
    if (holdsAny(job)) {
      write(job, Allocation.NONE, null, reason);
      signals.round();
    }
  }

  /** The same because of the job's new phase, which has an event of its own. */
  public void releaseByPhase(TrainingJob job, Reason reason) {
    if (holdsAny(job)) {
      store(job, Allocation.NONE, null, reason);
      signals.round();
    }
  }

  private boolean holdsAny(TrainingJob job) {
    AllocationStatus current = current(job);
    return current != null && current.replicas() > 0;
  }
}
