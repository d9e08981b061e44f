package dev.kastor.operator.telemetry;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Outcome;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Slowest;
import dev.kastor.protocol.StepCount;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.speed.JobSteps;
import dev.kastor.scheduler.speed.NodeSpeeds;
import dev.kastor.text.PrintableText;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** What one job's replicas reported; all methods lock the object. */
final class JobTelemetry {
  private static final MathContext SHOWN_DIGITS = new MathContext(4);
  private static final double MILLI = 1000.0;

  /**
   * Each report of a job changes what its whole family remembers; who has none of its own waits.
   */
  private static final Duration MEASURED_FOR = Duration.ofSeconds(5);

  /** Beyond this an end is no expectation. */
  private static final Duration LONGEST_ETA = Duration.ofDays(365);

  private final JobSpec spec;
  private final Learner learner;
  private final JobSteps steps;
  private final List<NodeSpeeds.Changed> speedsChanged = new ArrayList<>();
  private final Rates rates;
  private final LivedChanges changes;
  private final @Nullable TrainingStatus before;
  private final SeenBounds bounds;
  private final ClaimCheck claims;
  private final MemoryLimits memory;
  private final Map<String, Long> sequences = new HashMap<>();
  private final UsualStep stepTimes = new UsualStep();
  private final CountedSteps counted;
  private final CountedUpdates updates = new CountedUpdates();
  private @Nullable Slowest slowest;
  private @Nullable Reported last;
  private @Nullable GradientStats gradient;
  private @Nullable CheckpointInfo checkpoint;
  private @Nullable String unsaved;
  private @Nullable Double loss;
  private @Nullable Outcome completed;
  private double bestProgress;
  private Instant lastProgress = Instant.EPOCH;
  private volatile Instant advanced = Instant.EPOCH;
  private Instant lastSummary = Instant.EPOCH;
  private boolean dirty;
  private @Nullable Measured measured;
  private Optional<GoodputModel> lastModel = Optional.empty();
  private Instant measuredAt = Instant.EPOCH;
  private @Nullable Instant foreseenEnd;
  private Instant foreseenUntil = Instant.EPOCH;

  /**
   * Telemetry of a job.
   *
   * @param steps of the job by node
   * @param now when this operator first heard of the job
   */
  JobTelemetry(TrainingJob job, Learner learner, JobSteps steps, Instant now) {
    spec = JobSpecs.of(job);
    this.learner = learner;
    this.steps = steps;
    rates = new Rates(spec.batchLimits().initialGlobalBatch());
    TrainingJobStatus status = job.getStatus();
    before = status == null ? null : status.training();
    Long generation = status == null ? null : status.generation();
    changes = new LivedChanges(before, generation == null ? 0 : generation);
    bounds =
        new SeenBounds(
            spec.batchLimits(),
            spec.submitted(),
            spec.declaredSteps(),
            before == null ? 0 : before.maxReplicas(),
            before == null ? Instant.EPOCH : now);
    counted = new CountedSteps(spec, before == null ? 0 : before.examples());
    claims = new ClaimCheck(spec.batchLimits().initialGlobalBatch(), spec.submitted());
    memory = new MemoryLimits(spec.batchLimits(), before == null ? null : before.mostExamples());
    bestProgress = before == null ? 0 : before.scaleInvariantMillisteps() / MILLI;
  }

  /**
   * A generation that the operator published, or found in training: then at no known time.
   *
   * @param nodes names of its nodes
   */
  synchronized void published(long generation, SeenBounds.Published as, List<String> nodes) {
    bounds.published(generation, as);
    steps.placed(generation, as.replicas(), nodes);
  }

  /** Whether it has trained, with so many replicas, since it was given slots at that time. */
  synchronized boolean trained(Instant allocated, int replicas) {
    return last != null
        && bounds
            .generation(last.generation())
            .filter(as -> as.replicas() == replicas)
            .flatMap(SeenBounds.Published::allocated)
            .filter(allocated::equals)
            .isPresent();
  }

  /** What a person should know of a job whose claims and progress have parted for minutes. */
  synchronized Optional<String> parted(Instant now) {
    return claims.parted(now);
  }

  /** Takes in a report; false if it came before. */
  synchronized boolean accept(TelemetryReport said, Instant now) {
    TelemetryReport report = said;
    Long newest = sequences.get(report.pod());
    if (newest != null && report.sequence() <= newest) {
      return false;
    }
    sequences.put(report.pod(), report.sequence());
    if (last != null && report.generation() < last.generation()) {
      // A former rank 0 that was slow to leave: only its end could still be news.
      note(report.outcome(), now);
      return true;
    }
    report = changes.observe(bounds.cut(said, advanced, now));
    take(report, now);
    stepTimes.observe(report);
    if (bounds.contradictory()) {
      claims.contradicted();
    }
    check(report, now);
    return true;
  }

  /**
   * Takes in how many steps the script of a gang has counted. Speed, place and pause are what the
   * operator saw itself, and progress can be held against nothing else: so there is nothing to cut.
   *
   * @param seen the start that the sender belongs to
   * @return the report that it amounts to
   * @throws IllegalArgumentException if no job can have been so fast
   */
  synchronized TelemetryReport count(
      TelemetryStore.Start seen, String pod, StepCount count, Instant now) {
    SeenBounds.Published published =
        bounds.generation(seen.generation()).orElseGet(() -> seen.published());
    TelemetryStore.Start start = seen.allocated(published.allocated());
    double pause = bounds.startSeconds(published, advanced, now);
    TelemetryReport made = counted.report(start, pod, count, pause, now);
    bounds.published(seen.generation(), published);
    steps.placed(seen.generation(), seen.replicas(), seen.nodes());
    boolean known = published.at().isPresent();
    TelemetryReport report = changes.observe(known ? made : made.withSwitches(List.of()));
    take(report, now);
    return report;
  }

  private void take(TelemetryReport report, Instant now) {
    if (last != null && report.progress().step() > last.progress().step()) {
      advanced = now;
    }
    last = Reported.of(report, last);
    measured = null;
    report.profiles().forEach(memory::trained);
    JobSteps.Corrected corrected = steps.correct(report, learner.latestModel(), now);
    speedsChanged.addAll(corrected.changed());
    learner.observe(corrected.report(), now);
    rates.observe(report.progress(), now);
    updates.observe(report);
    slowest = report.slowest();
    gradient = report.gradient() == null ? gradient : report.gradient();
    checkpoint = report.checkpoint() == null ? checkpoint : report.checkpoint();
    unsaved = report.unsaved();
    loss = report.trainingLoss() == null ? loss : report.trainingLoss();
    if (report.progress().scaleInvariantSteps() > bestProgress) {
      bestProgress = report.progress().scaleInvariantSteps();
      lastProgress = now;
    }
    note(report.outcome(), now);
    dirty = true;
  }

  private void check(TelemetryReport report, Instant now) {
    bounds
        .generation(report.generation())
        .filter(as -> as.replicas() > 0 && as.replicas() == report.replicas())
        .ifPresent(as -> {
          PlacementShape shape = new PlacementShape(as.nodes(), as.replicas(), as.gpuType());
          claims.observe(
              report.generation(),
              shape,
              report.progress(),
              () ->
                  learner
                      .model(now)
                      .filter(known -> known.knows(shape.gpuType()))
                      // The model is of nodes that are well: on a slow one less is claimed.
                      .map(known ->
                          known.goodput(shape, report.batch())
                              / steps.slowdown(report.generation()))
                      .orElse(0.0),
              now);
        });
  }

  /** The changes that replicas lived since the last call. */
  synchronized List<Switch> takeSwitches() {
    return changes.takeFresh();
  }

  /** Updates of the job's parameter servers. */
  synchronized UpdateCounts updates() {
    return updates.sum();
  }

  /** Those since the last call. */
  synchronized UpdateCounts takeUpdates() {
    return updates.takeFresh();
  }

  /** The nodes whose speed turned out to be another one since the last call. */
  synchronized List<NodeSpeeds.Changed> takeSpeedsChanged() {
    List<NodeSpeeds.Changed> taken = List.copyOf(speedsChanged);
    speedsChanged.clear();
    return taken;
  }

  /** When the newest checkpoint was saved. */
  synchronized Optional<Instant> checkpointed() {
    return Optional.ofNullable(checkpoint)
        .map(saved -> Instant.ofEpochMilli(saved.savedAtEpochMillis()));
  }

  /** Why the last attempt to save a checkpoint failed; empty where it did not. */
  synchronized Optional<String> unsaved() {
    return Optional.ofNullable(unsaved).map(PrintableText::line).filter(why -> !why.isBlank());
  }

  /** Largest batch of a pass that fits a device, by GPU type. */
  synchronized Map<String, Integer> mostExamples() {
    return memory.most();
  }

  /** Takes note of what a replica on this GPU type says that fits its device. */
  synchronized void fits(String gpuType, int examples) {
    lowered(memory.fits(gpuType, examples));
  }

  /**
   * Takes note of a replica on this GPU type that ran out of memory at a batch; the largest that is
   * given from now on, empty where the job may have no smaller one.
   */
  synchronized OptionalInt outOfMemory(String gpuType, int examples) {
    lowered(memory.outOfMemory(gpuType, examples));
    int most = memory.most().getOrDefault(gpuType, Integer.MAX_VALUE);
    return most < examples ? OptionalInt.of(most) : OptionalInt.empty();
  }

  private String gpuType(Reported report) {
    return bounds.generation(report.generation()).map(SeenBounds.Published::gpuType).orElse("");
  }

  private void lowered(boolean anew) {
    if (anew) {
      measured = null;
      dirty = true;
    }
  }

  /** Takes in the last words of a replica. */
  synchronized void note(@Nullable Outcome outcome, Instant now) {
    if (outcome != null && outcome.outOfMemoryAt() != null && last != null) {
      lowered(memory.outOfMemory(gpuType(last), outcome.outOfMemoryAt()));
    }
    if (outcome != null && outcome.kind() == Outcome.Kind.COMPLETED && completed == null) {
      completed = outcome;
      measured = null;
      if (outcome.progress() != null) {
        learner.finished(outcome.progress(), now);
      }
      dirty = true;
    }
  }

  synchronized Optional<Outcome> completed() {
    return Optional.ofNullable(completed);
  }

  synchronized Optional<GoodputModel> model(Instant now) {
    return learner.model(now);
  }

  /** The newest noise statistics: as reported, else those of the model, if there is one. */
  synchronized Optional<GradientStats> gradient(Instant now) {
    return Optional.ofNullable(gradient).or(() -> learner.model(now).map(GoodputModel::gradient));
  }

  synchronized Optional<BatchPlan> batch() {
    return Optional.ofNullable(last).map(Reported::batch);
  }

  /** What is kept of the newest report. */
  synchronized Optional<Reported> last() {
    return Optional.ofNullable(last);
  }

  /** When a report last told of a new step; the epoch if none did. */
  Instant advanced() {
    return advanced;
  }

  /** What a step usually takes, in seconds; 0 if that is not known. */
  synchronized double usualStepSeconds() {
    return stepTimes.seconds();
  }

  /** Who computed slowest as of the newest report. */
  synchronized Optional<Slowest> slowest() {
    return Optional.ofNullable(slowest);
  }

  /** When the job last got further than ever before; the epoch if that is not known. */
  synchronized Instant lastProgress() {
    return lastProgress;
  }

  /** What a policy may know; what the family learnt meanwhile may be missing for a moment. */
  synchronized Measured measured(Instant now) {
    if (measured == null || !now.isBefore(measuredAt.plus(MEASURED_FOR))) {
      measured = measure(now);
      measuredAt = now;
    }
    return measured;
  }

  private Measured measure(Instant now) {
    Measured told = learner.measured(now);
    int profiled = told.maxProfiledReplicas();
    return new Measured(
        unchanged(told.model().map(claims::slowed)),
        before == null ? profiled : Math.max(profiled, before.maxReplicas()),
        told.progress().map(progress -> claims.believed(progress, now)),
        told.rescalePause(),
        told.restartPause(),
        told.saved(),
        told.outlook(),
        memory.most());
  }

  /** The same object for an equal model: rounds compare those of all jobs, and see that at once. */
  private Optional<GoodputModel> unchanged(Optional<GoodputModel> model) {
    lastModel = model.equals(lastModel) ? lastModel : model;
    return lastModel;
  }

  /** Whether there is news and the last summary is old enough. */
  synchronized boolean isDue(Instant now, Duration interval) {
    return dirty && !now.isBefore(lastSummary.plus(interval));
  }

  /** The summary, if there is news and the last one is old enough. */
  synchronized Optional<TrainingStatus> due(Instant now, Duration interval) {
    if (!dirty || now.isBefore(lastSummary.plus(interval))) {
      return Optional.empty();
    }
    dirty = false;
    lastSummary = now;
    return summary(now);
  }

  /**
   * Measured goodput over measured throughput, so that the three agree; before they are measured
   * what noise says. Null of a job that tells no noise: nobody knows what its examples are worth.
   */
  private @Nullable Double efficiency(int globalBatch) {
    if (gradient == null) {
      return null;
    }
    Double goodput = rates.goodput();
    Double throughput = rates.throughput();
    if (goodput != null && throughput != null && throughput > 0) {
      return Math.min(1, goodput / throughput);
    }
    return globalBatch == 0 ? null : Double.valueOf(Math.min(1, gradient.efficiency(globalBatch)));
  }

  /**
   * Useful part of training now: measured goodput over the throughput that the same GPUs would have
   * at the largest batch that the job may have, all on one node; or over the measured throughput,
   * while no step times are fitted or where that is more. Not a number where no goodput is
   * measured.
   */
  synchronized double useful(Instant now) {
    Double goodput = rates.goodput();
    Double throughput = rates.throughput();
    if (gradient == null || last == null || goodput == null || throughput == null) {
      return Double.NaN;
    }
    int replicas = last.replicas();
    double best = replicas < 1 ? throughput : Math.max(throughput, best(replicas, last, now));
    return best > 0 ? Math.clamp(goodput / best, 0, 1) : Double.NaN;
  }

  private double best(int replicas, Reported newest, Instant now) {
    PlacementShape shape = new PlacementShape(1, replicas, gpuType(newest));
    Integer most = memory.most().get(shape.gpuType());
    BatchLimits limits = most == null ? spec.batchLimits() : spec.batchLimits().fitting(most);
    return learner
        .model(now)
        .filter(known -> known.knows(shape.gpuType()))
        .flatMap(known ->
            GoodputModel.split(limits.maxGlobalBatch(), replicas, limits)
                .map(batch -> known.throughput(shape, batch)))
        .orElse(0.0);
  }

  /**
   * When the work will be done at the goodput that the model expects where the job trains; at the
   * measured one where there is no such model. Null if that cannot be said.
   */
  private @Nullable Instant endAsItTrains(Progress progress, Reported newest, Instant now) {
    double goodput =
        bounds
            .generation(newest.generation())
            .filter(as -> as.replicas() > 0)
            .map(as -> new PlacementShape(as.nodes(), as.replicas(), as.gpuType()))
            .flatMap(shape ->
                measured(now)
                    .model()
                    .filter(known -> known.knows(shape.gpuType()))
                    .map(known ->
                        known.goodput(shape, newest.batch()) / steps.slowdown(newest.generation())))
            .orElseGet(() -> Objects.requireNonNullElse(rates.goodput(), 0.0));
    if (goodput <= 0 || progress.totalScaleInvariantSteps() <= 0) {
      return null;
    }
    double left = Math.max(0, progress.totalScaleInvariantSteps() - progress.scaleInvariantSteps());
    double seconds = left * spec.batchLimits().initialGlobalBatch() / goodput;
    return seconds > LONGEST_ETA.toSeconds() ? null : now.plusMillis(Math.round(seconds * MILLI));
  }

  /**
   * When the job is expected to end: by a forecast, which knows that its size will change, else as
   * it trains now. Null where its work is not known.
   */
  private @Nullable Instant eta(Progress progress, Reported newest, Instant now) {
    Instant asItTrains = endAsItTrains(progress, newest, now);
    Instant end = now.isBefore(foreseenUntil) ? foreseenEnd : null;
    return asItTrains != null && end != null && end.isAfter(now) ? end : asItTrains;
  }

  /** A forecast of its end, null where there is none, that is old at a time. */
  synchronized void foreseen(@Nullable Instant end, Instant until) {
    foreseenEnd = end;
    foreseenUntil = until;
  }

  /** Namespace and name of the job. */
  JobId id() {
    return spec.id();
  }

  /** The summary as of now; empty before the first report. */
  synchronized Optional<TrainingStatus> summary(Instant now) {
    Progress progress = last == null ? null : last.progress();
    if (completed != null && completed.progress() != null) {
      progress = completed.progress();
    }
    if (last == null || progress == null) {
      // A replica ended before it reported to this operator: its last words are all there is.
      return completed().map(outcome -> Endings.of(before, outcome));
    }
    BatchPlan batch = last.batch();
    int replicas = last.replicas();
    int global = replicas == 0 ? 0 : batch.globalBatchSize(replicas);
    String type = gpuType(last);
    Instant eta = completed == null ? eta(progress, last, now) : null;
    boolean noise = gradient != null && Double.isFinite(gradient.noiseScale());
    return Optional.of(
        new TrainingStatus(
            progress.step(),
            Math.round(progress.scaleInvariantSteps() * MILLI),
            completed != null ? 100 : (int) Math.floor(progress.fraction() * 100),
            progress.examples(),
            progress.epoch(),
            eta == null ? null : eta.truncatedTo(ChronoUnit.SECONDS).toString(),
            global,
            batch.atomicBatchSize(),
            batch.accumulationSteps(),
            rounded(rates.goodput()),
            rates.throughput(),
            efficiency(global),
            noise && gradient != null ? gradient.noiseScale() : null,
            learner.model(now).map(known -> Predictions.bySize(spec, known, type)).orElse(null),
            type.isEmpty() ? null : type,
            type.isEmpty()
                ? null
                : learner
                    .model(now)
                    .map(known -> Predictions.byType(spec, known, replicas))
                    .orElse(null),
            loss,
            checkpoint == null ? null : checkpoint.step(),
            checkpoint == null
                ? null
                : Instant.ofEpochMilli(checkpoint.savedAtEpochMillis()).toString(),
            changes.rescales,
            changes.grows,
            changes.shrinks,
            learner.pauses().rescale().map(Duration::toMillis).orElse(null),
            changes.maxPauseMillis(),
            learner.pauses().restart().map(Duration::toMillis).orElse(null),
            changes.minReplicas,
            changes.maxReplicas,
            changes.minGlobalBatch,
            changes.maxGlobalBatch,
            completed == null ? null : completed.metricName(),
            completed == null ? null : completed.metric(),
            completed == null ? null : completed.lostOrRepeatedExamples(),
            memory.most().isEmpty() ? null : memory.most()));
  }

  /** People read it in the columns of kubectl. */
  private static @Nullable Double rounded(@Nullable Double goodput) {
    return goodput == null || !Double.isFinite(goodput)
        ? goodput
        : Double.valueOf(BigDecimal.valueOf(goodput).round(SHOWN_DIGITS).doubleValue());
  }
}
