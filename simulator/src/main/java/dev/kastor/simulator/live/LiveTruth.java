package dev.kastor.simulator.live;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.NoiseCurve;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Application of one live job, as a replay takes it for the truth: the step times of its fitted
 * model, its work, and its gradient noise. The noise follows the curve of the job's family where
 * there is one, shifted to what the job itself reported last; else it stays as it is.
 */
final class LiveTruth implements Application {
  /** By how much noise of its own may differ from its family's at the same progress. */
  private static final double MOST_SHIFT = 4;

  private final JobState job;
  private final GoodputModel model;
  private final double totalSteps;
  private final List<String> gpuTypes;
  private final Optional<NoiseCurve> noise;
  private final double shift;

  /**
   * The truth of a job.
   *
   * @param model step times on all of {@code gpuTypes}
   * @param totalSteps scale-invariant steps of its whole work, above 0
   */
  LiveTruth(JobState job, GoodputModel model, double totalSteps, List<String> gpuTypes) {
    this.job = job;
    this.model = model;
    this.totalSteps = totalSteps;
    this.gpuTypes = List.copyOf(gpuTypes);
    noise =
        job.progress().isPresent() || job.model().isPresent()
            ? job.outlook().noise()
            : Optional.empty();
    shift = noise.map(this::shift).orElse(1.0);
  }

  private double shift(NoiseCurve curve) {
    double done = job.progress().map(progress -> progress.scaleInvariantSteps()).orElse(0.0);
    double own = model.gradient().noiseScale();
    double family = curve.noiseScale(done / totalSteps);
    double ratio = own / family;
    return ratio > 0 ? Math.clamp(ratio, 1 / MOST_SHIFT, MOST_SHIFT) : 1;
  }

  private JobSpec spec() {
    return job.spec();
  }

  @Override
  public String name() {
    return job.id().toString();
  }

  @Override
  public List<String> gpuTypes() {
    return gpuTypes;
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return spec().batchLimits(gpuType);
  }

  @Override
  public int maxReplicas() {
    return spec().elasticity().max();
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    PlacementShape shape =
        new PlacementShape(replicasByNode.length, Arrays.stream(replicasByNode).sum(), gpuType);
    double step = model.stepSeconds(shape, new BatchPlan(atomicBatchSize, 0));
    double accumulated = model.stepSeconds(shape, new BatchPlan(atomicBatchSize, 1));
    return new StepTime(step, Math.max(0, step - (accumulated - step)));
  }

  @Override
  public int epochs() {
    return noise.isPresent() ? NoiseCurve.BUCKETS : 1;
  }

  @Override
  public double progressAt(int epoch) {
    return totalSteps * epoch / epochs();
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    if (noise.isEmpty()) {
      return model.gradient();
    }
    double at = (Math.min(finishedEpochs, epochs() - 1) + 0.5) / epochs();
    GradientStats family = noise.get().at(at);
    return new GradientStats(
        family.squaredNorm(), family.variance() * shift, family.initialBatch());
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    double steps = 0;
    for (int e = finishedEpochs; e < epochs(); e++) {
      steps += (progressAt(e + 1) - progressAt(e)) / gradient(globalBatch, e).gain(globalBatch);
    }
    return steps;
  }

  @Override
  public double restartSeconds() {
    return job.restartCost().toNanos() * 1e-9;
  }
}
