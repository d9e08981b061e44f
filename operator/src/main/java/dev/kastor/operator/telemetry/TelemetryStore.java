package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.history.StoredCurves;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.signal.JobObservers;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.usage.UsageLedger;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Slowest;
import dev.kastor.protocol.StepCount;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.text.DurationText;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * What all jobs reported, in memory, and the one writer of {@code status.training} and {@code
 * status.curves}. What it knows of usage goes into the same patch.
 */
@Singleton
public final class TelemetryStore {
  /**
   * A start of a gang as the operator saw it.
   *
   * @param generation its number: later starts have larger ones
   * @param nodes names of the distinct nodes of its pods
   * @param replicas its pods
   * @param gpuType GPU type of the nodes; empty where they have none
   * @param at when its pods were made; empty by an earlier operator
   * @param allocated when the job was given the slots
   */
  public record Start(
      long generation,
      List<String> nodes,
      int replicas,
      String gpuType,
      Optional<Instant> at,
      Optional<Instant> allocated) {
    public Start {
      nodes = List.copyOf(nodes);
    }

    SeenBounds.Published published() {
      return new SeenBounds.Published(nodes.size(), replicas, gpuType, at, allocated);
    }

    Start allocated(Optional<Instant> given) {
      return new Start(generation, nodes, replicas, gpuType, at, given);
    }
  }

  private final Map<String, JobTelemetry> jobs;
  private final SummaryBudget budget = new SummaryBudget();
  private final Learners learners;
  private final JobHistory history;
  private final UsageLedger usage;
  private final StatusWriter writer;
  private final JobObservers observers;
  private final Signals signals;
  private final Metrics metrics;
  private final Duration interval;
  private final InstantSource clock;

  public TelemetryStore(
      JobRecords records,
      Learners learners,
      JobHistory history,
      UsageLedger usage,
      StatusWriter writer,
      JobObservers observers,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    jobs = records.part();
    this.learners = learners;
    this.history = history;
    this.usage = usage;
    this.writer = writer;
    this.observers = observers;
    this.signals = signals;
    this.metrics = metrics;
    interval = config.summaryInterval();
    this.clock = clock;
  }

  /** Takes in a report that was checked; one that came before changes nothing. */
  public void accept(TrainingJob job, TelemetryReport report) {
    JobTelemetry telemetry = of(job);
    Instant now = clock.instant();
    boolean before = whole(job, telemetry);
    if (telemetry.accept(report, now)) {
      taken(job, telemetry, report, now);
      if (!before && whole(job, telemetry)) {
        // What was decided without it may be decided otherwise now; a replay does the same.
        signals.round();
      }
    }
  }

  /**
   * Takes in how many steps the script of a gang has counted.
   *
   * @param start the newest, which the sender is of
   * @throws IllegalArgumentException if no job can have been so fast
   */
  public void count(TrainingJob job, Start start, String pod, StepCount count) {
    JobTelemetry telemetry = of(job);
    Instant now = clock.instant();
    taken(job, telemetry, telemetry.count(start, pod, count, now), now);
  }

  private void taken(TrainingJob job, JobTelemetry telemetry, TelemetryReport report, Instant now) {
    metrics.reported();
    List<Switch> lived = telemetry.takeSwitches();
    lived.forEach(metrics::paused);
    UpdateCounts updates = telemetry.takeUpdates();
    metrics
        .jobs()
        .updated(
            job.getMetadata().getNamespace(),
            job.getMetadata().getName(),
            updates.byStaleness(),
            updates.droppedCopies());
    learners.tell(job, telemetry);
    usage.reported(job, report, whole(job, telemetry), lived, now);
    observers.reported(Labels.id(job), report, telemetry.gradient(now), now);
    if (telemetry.completed().isPresent()) {
      signals.job(Labels.id(job));
    }
  }

  /** Whether it trains with all replicas of its present allocation. */
  private static boolean whole(TrainingJob job, JobTelemetry telemetry) {
    TrainingJobStatus status = job.getStatus();
    AllocationStatus allocation = status == null ? null : status.allocation();
    return allocation != null
        && StoredTime.of(allocation.since())
            .filter(since -> telemetry.trained(since, allocation.replicas()))
            .isPresent();
  }

  /**
   * Takes note of a generation of the job.
   *
   * @param at when it was published; empty if an earlier operator did
   * @param allocated when the job was given the allocation that it had then
   */
  public void published(
      TrainingJob job, Membership generation, Optional<Instant> at, Optional<Instant> allocated) {
    List<Member> members = generation.members();
    List<String> nodes = members.stream().map(Member::node).distinct().toList();
    of(job)
        .published(
            generation.generation(),
            new SeenBounds.Published(
                nodes.size(), members.size(), Member.gpuType(members), at, allocated),
            nodes);
  }

  /** Whether the job has trained, with so many replicas, since it was given slots at that time. */
  public boolean trained(TrainingJob job, Instant allocated, int replicas) {
    return known(job).filter(known -> known.trained(allocated, replicas)).isPresent();
  }

  /** What a person should know of a job whose claims and progress have parted for minutes. */
  public Optional<String> parted(TrainingJob job) {
    return known(job).flatMap(known -> known.parted(clock.instant()));
  }

  /** What a person should know of a job that goes on training and saves no checkpoint. */
  public Optional<String> unsaved(TrainingJob job) {
    return known(job)
        .flatMap(known ->
            known
                .unsaved()
                .map(why ->
                    "The newest checkpoint could not be saved: %s. %s"
                        .formatted(
                            why,
                            known
                                .checkpointed()
                                .map(at -> "A restart would go back to that of " + at + ".")
                                .orElse("There is none, so a restart would begin anew."))));
  }

  /** Takes in the last words of a replica whose last report may have been lost. */
  public void note(TrainingJob job, Outcome outcome) {
    of(job).note(outcome, clock.instant());
  }

  /** Largest batch of a pass that fits a device, by GPU type; nothing where no limit was met. */
  public Map<String, Integer> mostExamples(TrainingJob job) {
    return of(job).mostExamples();
  }

  /** Takes note of what a replica on this GPU type says that fits its device. */
  public void fits(TrainingJob job, String gpuType, int examples) {
    of(job).fits(gpuType, examples);
  }

  /**
   * Takes note of a replica on this GPU type that ran out of memory at a batch of so many examples;
   * the largest that is given from now on, empty where the job may have no smaller one.
   */
  public OptionalInt outOfMemory(TrainingJob job, String gpuType, int examples) {
    return of(job).outOfMemory(gpuType, examples);
  }

  /** How the job ended, once a replica said that the work is done. */
  public Optional<Outcome> completed(TrainingJob job) {
    return known(job).flatMap(JobTelemetry::completed);
  }

  /** The model fitted to the job's reports and what its family remembers. */
  public Optional<GoodputModel> model(TrainingJob job) {
    return of(job).model(clock.instant());
  }

  /** What a policy may know of the job. */
  public Measured measured(TrainingJob job) {
    return of(job).measured(clock.instant());
  }

  /** The batch of the newest report. */
  public Optional<BatchPlan> batch(TrainingJob job) {
    return known(job).flatMap(JobTelemetry::batch);
  }

  /** When a report of the job with this uid last told of a new step; the epoch if none did. */
  public Instant advanced(String uid) {
    return Optional.ofNullable(jobs.get(uid)).map(JobTelemetry::advanced).orElse(Instant.EPOCH);
  }

  /** What a step of the job usually takes, in seconds; 0 if that is not known. */
  public double usualStepSeconds(TrainingJob job) {
    return known(job).map(JobTelemetry::usualStepSeconds).orElse(0.0);
  }

  /** Who of its replicas computed slowest as of the newest report. */
  public Optional<Slowest> slowest(TrainingJob job) {
    return known(job).flatMap(JobTelemetry::slowest);
  }

  /** Updates that its parameter servers took in; none of a job without servers. */
  public UpdateCounts updates(TrainingJob job) {
    return known(job).map(JobTelemetry::updates).orElse(UpdateCounts.NONE);
  }

  /** What is kept of the newest report. */
  public Optional<Reported> last(TrainingJob job) {
    return known(job).flatMap(JobTelemetry::last);
  }

  /** When the job last got further than ever before. */
  public Instant lastProgress(TrainingJob job) {
    return known(job).map(JobTelemetry::lastProgress).orElse(Instant.EPOCH);
  }

  /** Whether a running job has not reported since this operator started. */
  public boolean silentSinceRestart(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    return status != null && status.training() != null && last(job).isEmpty();
  }

  /** Whether {@link #writeIfDue} would write; a job that never reported costs nothing. */
  public boolean due(TrainingJob job) {
    Instant now = clock.instant();
    return known(job).filter(known -> known.isDue(now, spacing(now))).isPresent();
  }

  /** Writes the summary if there is news and it is time. */
  public void writeIfDue(TrainingJob job) {
    Instant now = clock.instant();
    known(job)
        .flatMap(known -> known.due(now, spacing(now)))
        .ifPresent(summary -> {
          Instant asked = clock.instant();
          boolean stored = false;
          try {
            write(job, summary);
            stored = true;
          } finally {
            Instant answered = clock.instant();
            budget.answered(stored, Duration.between(asked, answered), answered);
          }
        });
  }

  private Duration spacing(Instant now) {
    return budget.spacing(jobs.size(), interval, now);
  }

  /**
   * Takes a forecast in.
   *
   * @param ends when jobs end; of the others it says nothing
   * @param until when it is old
   */
  public void foreseen(Map<JobId, Instant> ends, Instant until) {
    jobs.values().forEach(job -> job.foreseen(ends.get(job.id()), until));
  }

  /** Writes the summary now. */
  public void write(TrainingJob job) {
    known(job)
        .flatMap(known -> known.summary(clock.instant()))
        .ifPresent(summary -> write(job, summary));
  }

  private void write(TrainingJob job, TrainingStatus summary) {
    Map<String, @Nullable Object> fields = new HashMap<>();
    fields.put("training", summary);
    fields.put("remaining", remaining(summary));
    var id = Labels.id(job);
    TrainingJobStatus status = job.getStatus();
    String curves =
        StoredCurves.text(
            history.story(id).orElseGet(() -> JobStory.empty(id)),
            status == null ? null : status.curves());
    fields.put("curves", curves.isEmpty() ? null : curves);
    Instant now = clock.instant();
    usage.measured(job, known(job).map(known -> known.useful(now)).orElse(Double.NaN), now);
    fields.put("usage", usage.text(job, now));
    writer.patch(job, fields);
    if (JobMapper.finished(job) || completed(job).isPresent()) {
      metrics.jobs().ended(id.namespace(), id.name());
      return;
    }
    known(job)
        .flatMap(JobTelemetry::checkpointed)
        .ifPresent(at -> metrics.jobs().checkpointed(id.namespace(), id.name(), at));
    metrics
        .jobs()
        .trains(
            id.namespace(),
            id.name(),
            last(job).map(Reported::replicas).orElse(0),
            orZero(summary.goodput()),
            orZero(summary.throughput()),
            orZero(summary.efficiency()),
            summary.globalBatch(),
            last(job).map(last -> last.progress().fraction()).orElse(0.0));
  }

  /**
   * What is known of a job, if anything is. Most questions are asked of all jobs there are, and one
   * whose spec cannot be right must not stop them.
   */
  private Optional<JobTelemetry> known(TrainingJob job) {
    return Optional.ofNullable(jobs.get(job.getMetadata().getUid()));
  }

  private JobTelemetry of(TrainingJob job) {
    return jobs.computeIfAbsent(
        job.getMetadata().getUid(), uid -> learners.telemetry(job, clock.instant()));
  }

  private @Nullable String remaining(TrainingStatus summary) {
    return StoredTime.of(summary.eta())
        .map(end -> Duration.between(clock.instant(), end))
        .map(left -> DurationText.of(left.isNegative() ? Duration.ZERO : left))
        .orElse(null);
  }

  private static double orZero(@Nullable Double value) {
    return value == null ? 0 : value;
  }
}
