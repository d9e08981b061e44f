package dev.kastor.simulator;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.goodput.GoodputEstimator;
import dev.kastor.traces.JobProfile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A job that trains in virtual time: true rates from its profile, decisions only from what it
 * reported. Owned by its {@link SimulatedCluster}.
 */
final class SimulatedJob {
  private final JobSpec spec;
  private final JobProfile profile;
  private final double submitSeconds;
  private final GoodputEstimator estimator;
  private final List<Switch> switches = new ArrayList<>();
  private Allocation allocation = Allocation.NONE;
  private @Nullable BatchPlan batch;
  private double pauseSeconds;
  private double progressSteps;
  private double steps;
  private double examples;
  private double stepsSinceReport;
  private double attainedService;
  private int restarts;
  private long generation;
  private long sequence;
  private double firstStartSeconds = Double.NaN;
  private double finishSeconds = Double.NaN;

  SimulatedJob(JobSpec spec, JobProfile profile, double submitSeconds) {
    this.spec = spec;
    this.profile = profile;
    this.submitSeconds = submitSeconds;
    estimator = new GoodputEstimator(spec);
  }

  JobSpec spec() {
    return spec;
  }

  Allocation allocation() {
    return allocation;
  }

  boolean finished() {
    return !Double.isNaN(finishSeconds);
  }

  boolean submittedBy(double now) {
    return submitSeconds <= now;
  }

  double submitSeconds() {
    return submitSeconds;
  }

  JobState state(double now, Duration rescaleCost) {
    return new JobState(
        spec,
        allocation,
        estimator.model(),
        estimator.maxProfiledReplicas(),
        Optional.of(progress()),
        SimulatedCluster.duration(now - submitSeconds),
        attainedService,
        restarts,
        rescaleCost,
        false);
  }

  /** Moves to another allocation; the pause begins now. */
  void reallocate(Allocation to, double now, Settings settings) {
    Allocation from = allocation;
    allocation = to;
    batch = null;
    stepsSinceReport = 0;
    if (to.isEmpty()) {
      pauseSeconds = 0;
      return;
    }
    if (Double.isNaN(firstStartSeconds)) {
      firstStartSeconds = now;
    } else {
      restarts++;
    }
    Duration pause = from.isEmpty() ? settings.startCost() : settings.rescaleCost();
    // A change within a pause does not cut the pause short.
    pauseSeconds = Math.max(pauseSeconds, SimulatedCluster.seconds(pause));
    generation++;
    if (switches.size() < TelemetryReport.MAX_ENTRIES) {
      switches.add(
          new Switch(
              generation,
              from.replicas(),
              to.replicas(),
              from.isEmpty() ? Switch.Cause.START : Switch.Cause.RESCALE,
              pauseSeconds));
    }
    chooseBatch();
  }

  private void chooseBatch() {
    batch =
        BatchChoice.choose(spec, estimator.model(), shape())
            .orElseThrow(() ->
                new IllegalStateException(
                    "job %s has no batch for %d replicas within %s"
                        .formatted(spec.id(), allocation.replicas(), spec.batchLimits())));
  }

  private PlacementShape shape() {
    return new PlacementShape(allocation.nodes(), allocation.replicas(), spec.gpuType());
  }

  private GradientStats trueGradient() {
    return profile
        .noise()
        .stats(
            Math.min(1, progressSteps / profile.totalSteps()),
            profile.limits().initialGlobalBatch());
  }

  /** Seconds until the work is done at today's rate; infinite while the job does not run. */
  double secondsToFinish() {
    BatchPlan plan = batch;
    if (plan == null || allocation.isEmpty() || finished()) {
      return Double.POSITIVE_INFINITY;
    }
    return pauseSeconds
        + (profile.totalSteps() - progressSteps)
            * profile.params().stepSeconds(shape(), plan)
            / trueGradient().gain(plan.globalBatchSize(allocation.replicas()));
  }

  /** Trains for a while at the rate that holds at its beginning. */
  void advance(double seconds) {
    BatchPlan plan = batch;
    if (plan == null || allocation.isEmpty() || finished()) {
      return;
    }
    attainedService += seconds * allocation.replicas();
    double paused = Math.min(pauseSeconds, seconds);
    pauseSeconds -= paused;
    int globalBatch = plan.globalBatchSize(allocation.replicas());
    double done = (seconds - paused) / profile.params().stepSeconds(shape(), plan);
    steps += done;
    stepsSinceReport += done;
    examples += done * globalBatch;
    progressSteps =
        Math.min(profile.totalSteps(), progressSteps + done * trueGradient().gain(globalBatch));
  }

  /** Ends the job and frees its slots. */
  void finish(double now) {
    progressSteps = profile.totalSteps();
    finishSeconds = now;
    allocation = Allocation.NONE;
    batch = null;
  }

  /** Sends what it measured since the last report, then adapts its batch to the newer model. */
  void report(double timingNoise, RandomGenerator random) {
    BatchPlan plan = batch;
    if (plan == null || allocation.isEmpty() || stepsSinceReport < 1) {
      return;
    }
    double compute =
        noisy(profile.params().computeSeconds(plan.atomicBatchSize()), timingNoise, random);
    double step =
        noisy(profile.params().updateSeconds(shape(), plan.atomicBatchSize()), timingNoise, random);
    StepProfile measured =
        new StepProfile(
            allocation.nodes(),
            allocation.replicas(),
            plan.atomicBatchSize(),
            (int) Math.min(Integer.MAX_VALUE, stepsSinceReport),
            step,
            Math.max(0, step - compute));
    estimator.observe(
        new TelemetryReport(
            spec.id().namespace(),
            spec.id().name(),
            spec.id().name() + "-0",
            generation,
            ++sequence,
            allocation.replicas(),
            plan,
            List.of(measured),
            trueGradient(),
            progress(),
            null,
            null,
            null,
            switches,
            null));
    switches.clear();
    stepsSinceReport = 0;
    chooseBatch();
  }

  private static double noisy(double seconds, double noise, RandomGenerator random) {
    return seconds * Math.exp(noise * random.nextGaussian());
  }

  private Progress progress() {
    return new Progress((long) steps, progressSteps, profile.totalSteps(), (long) examples, 0);
  }

  Replay.Completed result() {
    return new Replay.Completed(
        spec.id().name(),
        spec.id().name(),
        submitSeconds,
        firstStartSeconds,
        finishSeconds,
        restarts,
        attainedService);
  }
}
