package dev.kastor.simulator.event;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.CheckpointInfo;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.speed.JobSteps;
import dev.kastor.simulator.replay.ReplayListener;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What the scheduler knows of a job: its noisy reports and the model fitted to them. Owned by its
 * job.
 *
 * <p>Under a policy that decides no sizes nobody looks at models: then step times are not reported,
 * and progress is brought up to date when somebody asks, as often as reports would have come.
 */
final class Reporter {
  private final EventSettings settings;
  private final @Nullable Knowledge knowledge;
  private final @Nullable JobSteps stepsByNode;
  private final SplittableRandom random;
  private final JobSpec spec;
  private final ReplayListener listener;
  private Optional<Progress> progress = Optional.empty();
  private Optional<Instant> saved = Optional.empty();
  private double reportedAt;
  private final double declaredFactor;
  private final @Nullable SplittableRandom losses;
  private final Deque<TelemetryReport> onTheWay = new ArrayDeque<>();
  private final List<Switch> switches = new ArrayList<>();
  private final List<StepProfile> measured = new ArrayList<>();
  private double stepsReported;

  /** Generation of the job's members: grows with each allocation and each batch. */
  private int generation;

  /** The first generation of the present allocation. */
  private int placed;

  private int generationBegun;
  private long generationHeard;
  private long begunSequence;
  private long sequence;
  private boolean measuredHere;

  /**
   * Reports of a job.
   *
   * @param knowledge what they teach; null where nobody looks at models
   * @param stepsByNode what they tell of the speed of nodes; null where that is known
   * @param declaredFactor by how much the declared total is off; 0 if there is none
   */
  Reporter(
      EventSettings settings,
      JobSpec spec,
      @Nullable Knowledge knowledge,
      @Nullable JobSteps stepsByNode,
      double declaredFactor,
      SplittableRandom random,
      ReplayListener listener) {
    this.settings = settings;
    this.spec = spec;
    this.listener = listener;
    this.declaredFactor = declaredFactor;
    this.random = random;
    losses = settings.adversity().reports().lost() > 0 ? random.split() : null;
    this.knowledge = knowledge;
    this.stepsByNode = stepsByNode;
  }

  /** Whether anybody looks at its reports. */
  boolean heard() {
    return knowledge != null;
  }

  Optional<GoodputModel> model(double now) {
    return knowledge == null ? Optional.empty() : knowledge.model(VirtualClock.instant(now));
  }

  /** Whether the job has said that it trains with its present allocation. */
  boolean begun() {
    return generationBegun >= placed;
  }

  /** Whether a report from the job's present allocation has arrived. */
  boolean trains() {
    return placed > 0 && generationHeard >= placed;
  }

  /** Measurements as far as a policy may use them. */
  Measured measured(EventJob job, double now) {
    if (knowledge != null) {
      return knowledge.measured(VirtualClock.instant(now));
    }
    if (!job.allocation().isEmpty()
        && now - reportedAt >= VirtualClock.seconds(settings.reportInterval())) {
      progress = Optional.of(declared(job.progress()));
      saved = job.saved();
      reportedAt = now;
    }
    return new Measured(
        Optional.empty(), 0, progress, Optional.empty(), Optional.empty(), saved, Outlook.NONE);
  }

  /** The job's work is done. */
  void finished(EventJob job, double now) {
    if (knowledge != null) {
      knowledge.finished(job.progress(), VirtualClock.instant(now));
    }
  }

  /**
   * The batch it runs with on an allocation, by the rule that all hosts share; never beyond what
   * was measured there.
   */
  BatchPlan batch(
      JobSpec spec, Application application, Allocation allocation, String gpuType, double now) {
    PlacementShape shape = new PlacementShape(allocation.nodes(), allocation.replicas(), gpuType);
    BatchLimits limits = spec.batchLimits(gpuType);
    int measured =
        Math.min(
            application.maxAtomicBatch(gpuType, allocation.replicaCounts()),
            application.maxAtomicBatch(gpuType, allocation.replicas()));
    BatchLimits feasible =
        limits.withMaxAtomicBatch(
            Math.max(limits.minAtomicBatch(), Math.min(limits.maxAtomicBatch(), measured)));
    return BatchChoice.choose(spec, model(now), shape, feasible)
        .orElseThrow(() ->
            new IllegalStateException(
                "job %s has no batch for %d replicas within %s"
                    .formatted(spec.id(), shape.replicas(), spec.batchLimits(gpuType))));
  }

  /**
   * Notes the allocation that a live job has.
   *
   * @param steps optimizer steps that it has taken
   * @param trains whether it has trained with the allocation
   */
  void resumed(double steps, boolean trains) {
    generation++;
    placed = generation;
    stepsReported = steps;
    if (trains) {
      generationBegun = generation;
      generationHeard = generation;
      begunSequence = -1;
      measuredHere = true;
    }
  }

  /**
   * Notes another allocation, of which nothing is reported yet.
   *
   * @param steps optimizer steps that the job has taken
   * @param before replicas that go on; 0 where nothing runs where it ran
   * @param to the allocation
   * @param pause seconds until it trains
   */
  void moved(double steps, int before, Allocation to, Switch.Cause cause, double pause) {
    // A change that never came to training is not lived: the job goes on starting.
    boolean starting =
        !begun() && !switches.isEmpty() && switches.removeLast().cause() == Switch.Cause.START;
    measuredHere = false;
    generation++;
    placed = generation;
    stepsReported = steps;
    if (stepsByNode != null) {
      stepsByNode.placed(
          generation, to.replicas(), List.copyOf(to.replicasByNode().sequencedKeySet()));
    }
    if (knowledge != null) {
      switches.add(
          new Switch(
              generation,
              starting ? 0 : before,
              to.replicas(),
              starting ? Switch.Cause.START : cause,
              pause));
      bound(switches);
    }
  }

  /**
   * Measures the steps since the last report, before the job gets another allocation or batch.
   *
   * @param time of a step without accumulation when nobody disturbs
   * @param slowdown by how much the true time exceeds that
   * @return whether there was a step
   */
  boolean measure(EventJob job, String gpuType, StepTime time, double slowdown) {
    double steps = job.steps() - stepsReported;
    if (knowledge == null || steps < 1) {
      return false;
    }
    stepsReported = job.steps();
    double step = noisy(time.stepSeconds() * slowdown);
    double pass = noisy(time.passSeconds() * slowdown);
    Allocation allocation = job.training();
    measured.add(
        new StepProfile(
            allocation.nodes(),
            allocation.replicas(),
            job.batch().atomicBatchSize(),
            (int) steps,
            step,
            Math.max(0, step - pass),
            gpuType));
    bound(measured);
    return true;
  }

  /**
   * Drops the oldest of what no report has brought yet, as agents do: a report has so much room.
   */
  private static void bound(List<?> unsent) {
    if (unsent.size() > TelemetryReport.MAX_ENTRIES) {
      unsent.removeFirst();
    }
  }

  /** Notes another batch of the same replicas. */
  void rebatched() {
    generation++;
  }

  /**
   * Sends a report: as training begins one that says so, then one of step times; nothing happens if
   * the job has not ended a step since its last.
   *
   * @return whether it was sent and not lost
   */
  boolean send(EventJob job, String gpuType, StepTime time, double slowdown) {
    boolean begins = !begun();
    if (!begins && !measure(job, gpuType, time, slowdown)) {
      return false;
    }
    if (knowledge == null) {
      return false;
    }
    if (begins) {
      generationBegun = generation;
      begunSequence = sequence;
    }
    long number = sequence++;
    if (losses != null && losses.nextDouble() < settings.adversity().reports().lost()) {
      return false;
    }
    TelemetryReport report =
        new TelemetryReport(
            spec.id().namespace(),
            spec.id().name(),
            spec.id().name() + "-0",
            generation,
            number,
            job.training().replicas(),
            job.batch(),
            List.copyOf(measured),
            begins ? null : job.gradient(),
            declared(job.progress()),
            null,
            null,
            job.saved()
                .map(at -> new CheckpointInfo((long) job.steps(), 0, at.toEpochMilli()))
                .orElse(null),
            List.copyOf(switches),
            null);
    switches.clear();
    measured.clear();
    onTheWay.add(report);
    return true;
  }

  /**
   * Takes in the report that was sent first of those on the way.
   *
   * @return whether it is the first with step times of the allocation that the job has now
   */
  boolean receive(double now) {
    TelemetryReport report = onTheWay.remove();
    if (knowledge == null) {
      throw new IllegalStateException("nobody listens to reports");
    }
    Instant at = VirtualClock.instant(now);
    knowledge.observe(
        stepsByNode == null
            ? report
            : stepsByNode.correct(report, knowledge.latestModel(), at).report(),
        at);
    listener.reported(report, at);
    generationHeard = Math.max(generationHeard, report.generation());
    boolean news =
        !measuredHere && report.sequence() > begunSequence && report.generation() >= placed;
    measuredHere |= news;
    return news;
  }

  /** What the job says of its progress: how far it is, it knows. */
  private Progress declared(Progress truth) {
    return declaredFactor == 1
        ? truth
        : new Progress(
            truth.step(),
            truth.scaleInvariantSteps(),
            declaredFactor * truth.totalScaleInvariantSteps(),
            truth.examples(),
            truth.epoch());
  }

  private double noisy(double seconds) {
    return settings.adversity().timingNoise() == 0
        ? seconds
        : seconds * Math.exp(settings.adversity().timingNoise() * random.nextGaussian());
  }
}
