package dev.kastor.simulator.tick;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.StepProfile;
import dev.kastor.protocol.Switch;
import dev.kastor.scheduler.estimate.FamilyMemory;
import dev.kastor.scheduler.estimate.GoodputEstimator;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.Control;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.Foresight;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Learning;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A job of a published simulator: it trains at the measured rate, reports without noise, and adapts
 * its batch at each epoch's and each round's end. Owned by its simulation.
 */
final class TickJob implements Foresight {
  private final JobSpec spec;
  private final String name;
  private final Application application;
  private final double submitSeconds;
  private final TickRules rules;
  private final double declaredWork;
  private final boolean adaptive;
  private final boolean learns;
  private final boolean measuresPauses;
  private final Learner learner;
  private Allocation allocation = Allocation.NONE;
  private Placement placement = Placement.NONE;
  private BatchPlan batch = new BatchPlan(1, 0);
  private StepTime time = StepTime.UNKNOWN;
  private double restartLeft;
  private double progress;
  private int epoch;
  private double attainedService;
  private int restarts = -1;
  private int moves;
  private double changedSeconds = Double.NaN;
  private double startSeconds = Double.NaN;
  private double finishSeconds = Double.NaN;

  /**
   * A job that is not there yet.
   *
   * @param declaredFactor by how much the total it declares is off; 0 if it declares none
   * @param memory what its family remembers; empty where jobs learn alone
   */
  TickJob(
      Workload.Job job,
      Application application,
      PolicyTraits policy,
      TickRules rules,
      double declaredFactor,
      Optional<FamilyMemory> memory) {
    this.application = application;
    this.rules = rules;
    declaredWork = declaredFactor * application.progressAt(application.epochs());
    spec = rules.spec(job, application, policy.control());
    name = job.name();
    submitSeconds = job.submitSeconds();
    adaptive = spec.elasticity() instanceof Elasticity.Adaptive;
    learns =
        policy.control() == Control.SIZE_AND_BATCH
            && (policy.learning() == Learning.FULL
                || !(spec.elasticity() instanceof Elasticity.Rigid));
    measuresPauses = learns && policy.learning() == Learning.FULL;
    learner =
        new Learner(
            spec,
            new GoodputEstimator(spec, GoodputEstimator.Merging.FIRST, policy.learning()),
            memory);
  }

  JobSpec spec() {
    return spec;
  }

  Application application() {
    return application;
  }

  Allocation allocation() {
    return allocation;
  }

  boolean finished() {
    return !Double.isNaN(finishSeconds);
  }

  boolean active(double now) {
    return submitSeconds <= now && !finished();
  }

  /** Statistical efficiency of its present batch. */
  double efficiency() {
    int globalBatch = batch.globalBatchSize(placement.replicas());
    return application
        .gradient(globalBatch, Math.min(epoch, application.epochs() - 1))
        .efficiency(globalBatch);
  }

  JobState state(double now) {
    Duration restart = restartCost(now);
    return new JobState(
        spec,
        allocation,
        model(now),
        learner.maxProfiledReplicas(),
        Optional.of(progress()),
        Duration.ofNanos(Math.round((now - submitSeconds) * 1e9)),
        attainedService,
        Math.max(restarts, 0),
        restart,
        restart,
        Double.isNaN(changedSeconds)
            ? Duration.ZERO
            : Duration.ofNanos(Math.round((now - changedSeconds) * 1e9)),
        false,
        restartLeft > 0,
        learner.outlook(instant(now)),
        Optional.of(this));
  }

  /** The pause that policies reckon with: as published, or once it was measured, as measured. */
  private Duration restartCost(double now) {
    Optional<Duration> measured =
        measuresPauses ? learner.measured(instant(now)).restartPause() : Optional.empty();
    return measured.orElseGet(() -> duration(rules.believedRestartSeconds(application)));
  }

  private static Duration duration(double seconds) {
    return Duration.ofNanos(Math.round(seconds * 1e9));
  }

  /** How far it is; a job of the published simulators does not count its steps and examples. */
  private Progress progress() {
    return new Progress(0, progress, declaredWork, 0, epoch);
  }

  Replay.Completed completed() {
    return new Replay.Completed(
        name,
        application.name(),
        submitSeconds,
        startSeconds,
        finishSeconds,
        Math.max(restarts, 0),
        moves,
        attainedService,
        0);
  }

  /** Takes another allocation; a pause begins anew even if one was under way. */
  void reallocate(Allocation given, double now) {
    Placement from = placement;
    Allocation to = rules.usable(application, given);
    allocation = to;
    changedSeconds = now;
    placement = to.isEmpty() ? Placement.NONE : rules.place(spec, application, to);
    if (to.isEmpty() || (!from.isEmpty() && !rules.pauses(from, placement))) {
      return;
    }
    moves += from.replicas() == placement.replicas() ? 1 : 0;
    if (Double.isNaN(startSeconds)) {
      startSeconds = now;
    }
    chooseBatch(now);
    restartLeft = application.restartSeconds();
    restarts++;
  }

  private void chooseBatch(double now) {
    batch = rules.batch(spec, application, model(now), placement);
    time =
        application.stepTime(
            placement.gpuType(), placement.replicasByNode(), batch.atomicBatchSize());
    if (!time.isKnown()) {
      throw new IllegalStateException(
          "%s was never measured with an atomic batch of %d on %s"
              .formatted(application.name(), batch.atomicBatchSize(), placement));
    }
  }

  private Optional<GoodputModel> model(double now) {
    return learns ? learner.model(instant(now)) : Optional.empty();
  }

  private static Instant instant(double seconds) {
    return Instant.ofEpochSecond((long) seconds);
  }

  /**
   * Runs for one round.
   *
   * @param from when the round began
   * @param seconds its length
   * @param rate share of its goodput that its neighbours leave it, in (0, 1]
   */
  void advance(double from, double seconds, double rate) {
    if (allocation.isEmpty() || finished()) {
      return;
    }
    double clock = from;
    double left = seconds;
    double paused = Math.min(restartLeft, left);
    restartLeft -= paused;
    if (paused > 0 && restartLeft == 0 && measuresPauses) {
      learner.observe(restarted(), instant(clock + paused));
    }
    clock += paused;
    left -= paused;
    attainedService += paused * placement.slots();
    while (left > 0 && !finished()) {
      int globalBatch = batch.globalBatchSize(placement.replicas());
      GradientStats gradient = application.gradient(globalBatch, epoch);
      observe(gradient, clock);
      double goodput =
          gradient.gain(globalBatch)
              / time.stepSeconds(batch.accumulationSteps())
              / application.slowdown()
              * rate;
      double target = application.progressAt(epoch + 1);
      double passed;
      if (progress + goodput * left < target) {
        progress += goodput * left;
        passed = left;
      } else {
        // Whole seconds, half to even, as the published simulators round.
        passed = Math.rint((target - progress) / goodput);
        progress = target;
        epoch++;
        if (epoch >= application.epochs()) {
          finishSeconds = clock + passed;
          if (learns) {
            learner.finished(progress(), instant(finishSeconds));
          }
        }
      }
      clock += passed;
      left -= passed;
      attainedService += passed * placement.slots();
      if (adaptive && !finished()) {
        chooseBatch(clock);
      }
    }
  }

  /** The change that it has just paused for, as a job of a cluster would report it. */
  private Switch restarted() {
    return new Switch(
        Math.max(restarts, 0),
        0,
        placement.replicas(),
        Switch.Cause.START,
        application.restartSeconds());
  }

  private void observe(GradientStats gradient, double now) {
    if (learns) {
      learner.observe(gradient, progress(), instant(now));
      PlacementShape shape = placement.shape("");
      learner.observe(
          new StepProfile(
              shape.nodes(),
              shape.replicas(),
              batch.atomicBatchSize(),
              1,
              time.stepSeconds(),
              time.syncSeconds(),
              rules.reportedType(placement.gpuType())),
          instant(now));
    }
  }

  @Override
  public double stepSeconds(String type, int[] replicasByNode, BatchPlan plan) {
    StepTime at = application.stepTime(type, replicasByNode, plan.atomicBatchSize());
    return at.isKnown()
        ? at.stepSeconds(plan.accumulationSteps()) * application.slowdown()
        : Double.POSITIVE_INFINITY;
  }

  @Override
  public double remainingSteps(int globalBatch) {
    return application.remainingSteps(globalBatch, epoch);
  }
}
