package dev.kastor.simulator.event;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.Control;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.Policy;
import dev.kastor.scheduler.goodput.FamilyMemory;
import dev.kastor.scheduler.goodput.GoodputEstimator;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Learner;
import dev.kastor.scheduler.goodput.Outlook;
import dev.kastor.traces.StepTime;
import java.time.Instant;
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
  private double stepsReported;
  private boolean newPlace = true;

  Reporter(
      EventSettings settings,
      JobSpec spec,
      Policy policy,
      Optional<FamilyMemory> memory,
      SplittableRandom random) {
    this.settings = settings;
    this.random = random;
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
      progress = Optional.of(job.progress());
      reportedAt = now;
    }
    return progress;
  }

  /** The batch it runs with on an allocation, by the rule that all hosts share. */
  BatchPlan batch(JobSpec spec, Allocation allocation, String gpuType, double now) {
    PlacementShape shape = new PlacementShape(allocation.nodes(), allocation.replicas(), gpuType);
    return BatchChoice.choose(spec, model(now), shape)
        .orElseThrow(() ->
            new IllegalStateException(
                "job %s has no batch for %d replicas within %s"
                    .formatted(spec.id(), shape.replicas(), spec.batchLimits(gpuType))));
  }

  /** It has another allocation since {@code steps}, of which nothing was reported yet. */
  void moved(double steps) {
    newPlace = true;
    stepsReported = steps;
  }

  /**
   * Takes a report in; nothing happens if the job has not ended a step since its last.
   *
   * @param time of a step without accumulation when nobody disturbs
   * @param slowdown by how much the true time exceeds that
   * @return whether it is the first from this allocation
   */
  boolean report(EventJob job, String gpuType, StepTime time, double slowdown, double now) {
    double steps = job.steps() - stepsReported;
    if (learner == null || steps < 1) {
      return false;
    }
    stepsReported = job.steps();
    Progress reached = job.progress();
    progress = Optional.of(reached);
    double step = noisy(time.stepSeconds() * slowdown);
    double pass = noisy(time.passSeconds() * slowdown);
    Allocation allocation = job.allocation();
    Instant at = VirtualClock.instant(now);
    learner.observe(
        gpuType,
        new StepProfile(
            allocation.nodes(),
            allocation.replicas(),
            job.batch().atomicBatchSize(),
            (int) steps,
            step,
            Math.max(0, step - pass)),
        at);
    learner.observe(job.gradient(), reached, at);
    boolean news = newPlace;
    newPlace = false;
    return news;
  }

  private double noisy(double seconds) {
    return settings.timingNoise() == 0
        ? seconds
        : seconds * Math.exp(settings.timingNoise() * random.nextGaussian());
  }
}
