package dev.kastor.simulator.live;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.LayoutFactors;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.goodput.ThroughputParams;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.simulator.event.LiveRescale;
import dev.kastor.simulator.event.LiveStart;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * Completion of what an operator knows of a job by assumptions, so that its future can be replayed:
 * its speed on GPU types where it was not measured, and its work where nobody declared it.
 *
 * @param start the job with all that a replay needs
 * @param kinds kinds of assumptions that were made
 */
public record Assumed(LiveStart start, List<Kind> kinds) {
  /** Kinds of assumptions, with the words that say them of some jobs. */
  public enum Kind {
    /** No report and no family tells of its speed. */
    SPEED("nothing is known of the speed of %s: taken to train for %s with the fewest replicas"),

    /** It has not said how long it goes on, and no job of its family has ended. */
    WORK("the work of %s is not known: taken to train for %s with the fewest replicas"),

    /** It has done some of a work of which nobody knows how much it is. */
    AS_MUCH_AGAIN("the work of %s is not declared: taken to be twice what is done"),

    /** The work of ended jobs of its family counts. */
    FAMILY("the work of %s is not declared: taken to be that of ended jobs of the family");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    /** The assumption of these jobs as a sentence part. */
    public String text(String jobs, String unknown) {
      return words.formatted(jobs, unknown);
    }
  }

  /** Optimizer steps of a job of which neither speed nor work is known: any number does. */
  private static final double SOME_STEPS = 1000;

  /**
   * Share of a pass that synchronisation takes where speed is not known. Twice the replicas are
   * then 1.7 times as fast, which is near to what policies expect: the 0.8th power.
   */
  private static final double SYNC_SHARE = 0.15;

  /**
   * The job with what is assumed of it.
   *
   * @param types GPU types of all nodes
   * @param unknown how long a job trains with its fewest replicas of which nobody knows it
   */
  public static Assumed of(LiveJob job, List<String> types, Duration unknown) {
    JobState state = job.state();
    boolean speedKnown = state.model().isPresent();
    double unknownSeconds = unknown.toNanos() * 1e-9;
    Kind kind = null;
    double total;
    Progress done = state.reached();
    if (done.totalScaleInvariantSteps() > 0) {
      total = done.totalScaleInvariantSteps();
    } else {
      boolean byFamily = state.outlook().knowsTotal(done);
      total = state.outlook().totalSteps(done);
      kind = total == 0 ? Kind.WORK : byFamily ? Kind.FAMILY : Kind.AS_MUCH_AGAIN;
    }
    GoodputModel model;
    if (speedKnown) {
      model = everywhere(state.model().orElseThrow(), types);
      if (total == 0) {
        total = unknownSeconds / stepSeconds(state.spec(), model, types);
      }
    } else {
      kind = Kind.SPEED;
      total = total == 0 ? SOME_STEPS : total;
      model = guessed(state.spec(), types, unknownSeconds / total);
    }
    boolean live =
        !state.allocation().isEmpty()
            && !(state.spec().elasticity() instanceof Elasticity.Restarting);
    LiveStart start =
        new LiveStart(
            job,
            model,
            new LiveTruth(state, model, total, types),
            live ? state.rescaleCost() : LiveRescale.USUAL.pause(),
            state.progress().isPresent()
                ? done.totalScaleInvariantSteps() > 0
                : !(state.spec().elasticity() instanceof Elasticity.Restarting));
    return new Assumed(start, kind == null ? List.of() : List.of(kind));
  }

  /** Seconds that the job still trains if it keeps its fewest replicas. */
  public double secondsAtLeast() {
    JobState state = start.job().state();
    double done = state.progress().map(Progress::scaleInvariantSteps).orElse(0.0);
    double left = Math.max(0, start.truth().progressAt(start.truth().epochs()) - done);
    return left * stepSeconds(state.spec(), start.model(), start.truth().gpuTypes());
  }

  /** On a type where it was not measured, a job is as fast as on the first where it was. */
  private static GoodputModel everywhere(GoodputModel model, List<String> types) {
    SequencedMap<String, ThroughputParams> params = new LinkedHashMap<>(model.paramsByType());
    SequencedMap<String, LayoutFactors> factors = new LinkedHashMap<>(model.factorsByType());
    String known = model.paramsByType().firstEntry().getKey();
    for (String type : types) {
      if (!model.knows(type)) {
        params.put(type, model.params(known));
        LayoutFactors corrections = model.factorsByType().get(known);
        if (corrections != null) {
          factors.put(type, corrections);
        }
      }
    }
    return new GoodputModel(params, factors, model.gradient());
  }

  private static GoodputModel guessed(JobSpec spec, List<String> types, double stepSeconds) {
    PlacementShape fewest = fewest(spec, types);
    BatchPlan plan = plan(spec, fewest);
    boolean several = fewest.replicas() > 1;
    double pass = stepSeconds / (plan.accumulationSteps() + 1 + (several ? SYNC_SHARE : 0));
    double sync = SYNC_SHARE * pass;
    ThroughputParams params =
        new ThroughputParams(0, pass / plan.atomicBatchSize(), sync, 0, sync, 0, 1);
    SequencedMap<String, ThroughputParams> byType = new LinkedHashMap<>();
    types.forEach(type -> byType.put(type, params));
    // Without noise no larger batch is worth anything: the job keeps its own.
    return new GoodputModel(
        byType, new GradientStats(1, 0, spec.batchLimits().initialGlobalBatch()));
  }

  private static double stepSeconds(JobSpec spec, GoodputModel model, List<String> types) {
    PlacementShape fewest = fewest(spec, types);
    BatchPlan plan = plan(spec, fewest);
    double gain = model.gradient().gain(plan.globalBatchSize(fewest.replicas()));
    return model.stepSeconds(fewest, plan) / Math.max(1, gain);
  }

  private static PlacementShape fewest(JobSpec spec, List<String> types) {
    String type = types.stream().filter(spec::runsOn).findFirst().orElse(types.getFirst());
    return new PlacementShape(1, spec.elasticity().min(), type);
  }

  private static BatchPlan plan(JobSpec spec, PlacementShape shape) {
    Optional<BatchPlan> chosen = BatchChoice.choose(spec, Optional.empty(), shape);
    return chosen.orElse(new BatchPlan(spec.batchLimits(shape.gpuType()).minAtomicBatch(), 0));
  }
}
