package dev.kastor.simulator.event;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.BatchLimits;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.goodput.FamilyMemory;
import dev.kastor.scheduler.goodput.GoodputEstimator;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Learner;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
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
  private final @Nullable Learner learner;
  private final SplittableRandom random;
  private Optional<Progress> progress = Optional.empty();
  private double reportedAt;
  private final double declaredFactor;
  private final @Nullable SplittableRandom losses;
  private final Deque<Message> onTheWay = new ArrayDeque<>();
  private double stepsReported;
  private int places;
  private boolean newPlace = true;

  /** What a report says, and from which of the job's places. */
  private record Message(
      int place, String gpuType, StepProfile profile, GradientStats gradient, Progress progress) {}

  /**
   * Reports of a job.
   *
   * @param declaredFactor by how much the declared total is off; 0 if there is none
   */
  Reporter(
      EventSettings settings,
      JobSpec spec,
      PolicyTraits policy,
      double declaredFactor,
      Optional<FamilyMemory> memory,
      SplittableRandom random) {
    this.settings = settings;
    this.declaredFactor = declaredFactor;
    this.random = random;
    losses = settings.adversity().reports().lost() > 0 ? random.split() : null;
    learner =
        policy.control() == Control.PLACEMENT
            ? null
            : new Learner(
                spec,
                new GoodputEstimator(spec, GoodputEstimator.Merging.NEWEST, policy.learning()),
                memory);
  }

  /** Whether anybody looks at its reports. */
  boolean heard() {
    return learner != null;
  }

  Optional<GoodputModel> model(double now) {
    return learner == null ? Optional.empty() : learner.model(VirtualClock.instant(now));
  }

  int maxProfiledReplicas() {
    return learner == null ? 0 : learner.maxProfiledReplicas();
  }

  Outlook outlook(double now) {
    return learner == null ? Outlook.NONE : learner.outlook(VirtualClock.instant(now));
  }

  /** The job's work is done. */
  void finished(EventJob job, double now) {
    if (learner != null) {
      learner.finished(job.progress(), VirtualClock.instant(now));
    }
  }

  Optional<Progress> progress(EventJob job, double now) {
    if (learner == null
        && !job.allocation().isEmpty()
        && now - reportedAt >= VirtualClock.seconds(settings.reportInterval())) {
      progress = Optional.of(declared(job.progress()));
      reportedAt = now;
    }
    return progress;
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
            application.maxAtomicBatch(gpuType, allocation.counts()),
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

  /** It has another allocation since {@code steps}, of which nothing was reported yet. */
  void moved(double steps) {
    newPlace = true;
    places++;
    stepsReported = steps;
  }

  /**
   * Sends a report; nothing happens if the job has not ended a step since its last.
   *
   * @param time of a step without accumulation when nobody disturbs
   * @param slowdown by how much the true time exceeds that
   * @return whether it was sent and not lost
   */
  boolean send(EventJob job, String gpuType, StepTime time, double slowdown) {
    double steps = job.steps() - stepsReported;
    if (learner == null || steps < 1) {
      return false;
    }
    stepsReported = job.steps();
    double step = noisy(time.stepSeconds() * slowdown);
    double pass = noisy(time.passSeconds() * slowdown);
    if (losses != null && losses.nextDouble() < settings.adversity().reports().lost()) {
      return false;
    }
    Allocation allocation = job.allocation();
    onTheWay.add(
        new Message(
            places,
            gpuType,
            new StepProfile(
                allocation.nodes(),
                allocation.replicas(),
                job.batch().atomicBatchSize(),
                (int) steps,
                step,
                Math.max(0, step - pass)),
            job.gradient(),
            declared(job.progress())));
    return true;
  }

  /**
   * Takes in the report that was sent first of those on the way.
   *
   * @return whether it is the first from the allocation that the job has now
   */
  boolean receive(double now) {
    Message message = onTheWay.remove();
    if (learner == null) {
      throw new IllegalStateException("nobody listens to reports");
    }
    Instant at = VirtualClock.instant(now);
    learner.observe(message.gpuType(), message.profile(), at);
    learner.observe(message.gradient(), message.progress(), at);
    progress = Optional.of(message.progress());
    boolean news = newPlace && message.place() == places;
    newPlace &= !news;
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
