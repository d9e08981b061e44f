package dev.kastor.operator.status;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.Phase;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.NotSent;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.signal.JobObservers;
import dev.kastor.operator.usage.UsageLedger;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writer of the reconciler's part of the status, which is written only when it changes. */
@Singleton
public final class JobStatusWriter {
  private static final Logger LOG = LoggerFactory.getLogger(JobStatusWriter.class);

  private final StatusWriter writer;
  private final EventRecorder events;
  private final JobObservers observers;
  private final UsageLedger usage;
  private final InstantSource clock;
  private final Map<String, Map<String, @Nullable Object>> written;

  /** Jobs whose last write had no clear answer: what it said may be stored or not. */
  private final Set<String> unanswered;

  /** Times that were sent and not yet stored as far as is known, by job and field. */
  private final Map<String, Map<String, String>> attempted;

  public JobStatusWriter(
      JobRecords records,
      StatusWriter writer,
      EventRecorder events,
      JobObservers observers,
      UsageLedger usage,
      InstantSource clock) {
    written = records.part();
    unanswered = records.flags();
    attempted = records.part();
    this.writer = writer;
    this.events = events;
    this.observers = observers;
    this.usage = usage;
    this.clock = clock;
  }

  /** The phase as last written, which the cache may not show yet. */
  public @Nullable Phase phase(TrainingJob job) {
    Map<String, @Nullable Object> own = written.get(job.getMetadata().getUid());
    if (own != null && own.get("phase") instanceof Phase phase) {
      return phase;
    }
    TrainingJobStatus status = job.getStatus();
    return status == null ? null : status.phase();
  }

  /** What is known of the job's life. */
  public LifeTimes times(TrainingJob job) {
    Map<String, @Nullable Object> known = known(job);
    Object phase = known.get("phase");
    List<Condition> conditions = conditions(known);
    Optional<Instant> admitted = since(conditions, JobConditions.Type.Admitted, true);
    Optional<Instant> idle = since(conditions, JobConditions.Type.Running, false);
    Duration now =
        since(conditions, JobConditions.Type.Suspended, true)
            .map(at -> Duration.between(at, clock.instant()))
            .orElse(Duration.ZERO);
    return new LifeTimes(
        instant(known.get("startTime")),
        Duration.ofSeconds(number(known.get("suspendedSeconds"))).plus(now),
        phase == Phase.Queued
            ? since(conditions, JobConditions.Type.Queued, true)
            : Optional.empty(),
        phase == Phase.Starting
            ? admitted.map(at -> idle.filter(other -> other.isAfter(at)).orElse(at))
            : Optional.empty(),
        (int) number(known.get("failedStarts")),
        Duration.ZERO);
  }

  /** When the job may get slots again; empty if at once. */
  public Optional<Instant> notBefore(TrainingJob job) {
    return instant(known(job).get("notBefore"));
  }

  /** Notes that the job has to wait before it gets slots again. */
  public void holdBack(TrainingJob job, int failedStarts, Instant until) {
    settle(job);
    Map<String, Object> changed =
        Map.of(
            "failedStarts",
            failedStarts,
            "notBefore",
            until.truncatedTo(ChronoUnit.MILLIS).toString());
    if (patch(job, changed)) {
      Map<String, @Nullable Object> fields = new HashMap<>(known(job));
      fields.putAll(changed);
      written.put(job.getMetadata().getUid(), fields);
    }
  }

  /** Writes phase, conditions and counters. */
  public void write(TrainingJob job, JobConditions.Facts facts, int failures) {
    Instant now = clock.instant();
    String uid = job.getMetadata().getUid();
    Object told = known(job).get("phase");
    settle(job);
    Map<String, @Nullable Object> before = known(job);
    Map<String, @Nullable Object> fields = new HashMap<>();
    fields.put("phase", facts.phase());
    fields.put("reason", facts.reason());
    fields.put("observedGeneration", job.getMetadata().getGeneration());
    fields.put(
        "conditions",
        JobConditions.derive(facts, conditions(before), job.getMetadata().getGeneration(), now));
    fields.put("selector", Labels.replicas(job));
    fields.put("failuresSinceProgress", failures);
    String instant = now.truncatedTo(ChronoUnit.MILLIS).toString();
    boolean ended = facts.phase() == Phase.Succeeded || facts.phase() == Phase.Failed;
    Object start = before.get("startTime");
    fields.put(
        "startTime",
        start == null && facts.phase() == Phase.Running ? once(uid, "startTime", instant) : start);
    Object end = before.get("completionTime");
    fields.put("completionTime", end == null && ended ? once(uid, "completionTime", instant) : end);
    boolean trains = facts.phase() == Phase.Running;
    fields.put("failedStarts", trains ? Integer.valueOf(0) : before.get("failedStarts"));
    fields.put("notBefore", trains ? null : before.get("notBefore"));
    fields.put("suspendedSeconds", suspendedSeconds(before, facts.phase(), now));
    if (!fields.equals(before)) {
      // Whoever reads what this patch says before it is answered still hears of the change.
      written.putIfAbsent(uid, before);
      if (!patch(job, fields)) {
        return;
      }
      written.put(uid, fields);
      attempted.remove(uid);
    }
    if (!Objects.equals(told, facts.phase())) {
      entered(job, facts, now);
    }
    if (facts.unsaved() != null
        && since(conditions(before), JobConditions.Type.Unsaved, true).isEmpty()) {
      events.warning(job, JobReason.CheckpointFailed.name(), facts.unsaved());
    }
  }

  /**
   * The time that was sent first. A write that nobody answered may be carried out long after it, so
   * that looking whether it was does not help: what is sent again has to be the same.
   */
  private String once(String uid, String field, String instant) {
    return attempted
        .computeIfAbsent(uid, job -> new ConcurrentHashMap<>())
        .computeIfAbsent(field, time -> instant);
  }

  private boolean patch(TrainingJob job, Map<String, ? extends @Nullable Object> fields) {
    try {
      return writer.patch(job, fields);
    } catch (KubernetesClientException e) {
      if (NotSent.mayBeDone(e)) {
        unanswered.add(job.getMetadata().getUid());
      }
      throw e;
    }
  }

  /** A time that was stored must not be stored again as a later one. */
  private void settle(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    if (unanswered.contains(uid)) {
      writer.stored(job).ifPresent(now -> written.put(uid, fields(now)));
      unanswered.remove(uid);
    }
  }

  private void entered(TrainingJob job, JobConditions.Facts facts, Instant now) {
    LOG.info("{}: {}: {} {}", Labels.id(job), facts.phase(), facts.reason(), facts.message());
    observers.phase(Labels.id(job), facts.phase(), now);
    usage.entered(job, facts.phase(), now);
    switch (facts.phase()) {
      case Failed -> events.warning(job, facts.reason(), facts.message());
      case Succeeded, Suspended -> events.normal(job, facts.phase().name(), facts.message());
      // The allocation's own event says why it starts, runs or waits.
      case Queued, Starting, Running -> {}
    }
  }

  /** Adds a suspension that ends now; those before the first training do not matter. */
  private static @Nullable Object suspendedSeconds(
      Map<String, @Nullable Object> before, Phase phase, Instant now) {
    Object so = before.get("suspendedSeconds");
    Optional<Instant> since = since(conditions(before), JobConditions.Type.Suspended, true);
    return phase == Phase.Suspended || since.isEmpty() || before.get("startTime") == null
        ? so
        : Long.valueOf(number(so) + Math.max(0, Duration.between(since.get(), now).toSeconds()));
  }

  private static Optional<Instant> since(
      List<Condition> conditions, JobConditions.Type type, boolean holds) {
    String status = holds ? "True" : "False";
    return conditions.stream()
        .filter(condition -> type.name().equals(condition.getType()))
        .filter(condition -> status.equals(condition.getStatus()))
        .findFirst()
        .flatMap(condition -> instant(condition.getLastTransitionTime()));
  }

  private static Optional<Instant> instant(@Nullable Object text) {
    return StoredTime.of(text == null ? null : text.toString());
  }

  private static long number(@Nullable Object value) {
    return value instanceof Number number ? number.longValue() : 0;
  }

  private Map<String, @Nullable Object> known(TrainingJob job) {
    Map<String, @Nullable Object> own = written.get(job.getMetadata().getUid());
    return own == null ? fields(job) : own;
  }

  private static Map<String, @Nullable Object> fields(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    Map<String, @Nullable Object> fields = new HashMap<>();
    if (status != null) {
      fields.put("phase", status.phase());
      fields.put("reason", status.reason());
      fields.put("observedGeneration", status.observedGeneration());
      fields.put("conditions", status.conditions());
      fields.put("selector", status.selector());
      fields.put("failuresSinceProgress", status.failuresSinceProgress());
      fields.put("startTime", readable(status.startTime()));
      fields.put("completionTime", readable(status.completionTime()));
      fields.put("failedStarts", status.failedStarts());
      fields.put("notBefore", readable(status.notBefore()));
      fields.put("suspendedSeconds", status.suspendedSeconds());
    }
    return fields;
  }

  /** A time that cannot be read is none, and is written anew. */
  private static @Nullable String readable(@Nullable String time) {
    return StoredTime.of(time).isPresent() ? time : null;
  }

  @SuppressWarnings("unchecked") // Only this class puts anything under that name.
  private static List<Condition> conditions(Map<String, @Nullable Object> fields) {
    Object conditions = fields.get("conditions");
    return conditions == null ? List.of() : (List<Condition>) conditions;
  }
}
