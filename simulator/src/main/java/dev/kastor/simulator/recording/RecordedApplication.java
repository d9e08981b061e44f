package dev.kastor.simulator.recording;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.simulator.event.LiveStart;
import dev.kastor.simulator.event.SpecifiedApplication;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.time.Duration;
import java.util.List;

/** Application of one recorded job: the model that was fitted to it, its work and its noise. */
final class RecordedApplication implements SpecifiedApplication {
  private final LiveStart job;
  private final Application truth;
  private final double slowdown;

  /**
   * The application of a job.
   *
   * @param slowdown by how much its steps take longer than its model says
   */
  RecordedApplication(LiveStart job, double slowdown) {
    this.job = job;
    this.slowdown = slowdown;
    truth = job.truth();
  }

  @Override
  public double slowdown() {
    return slowdown;
  }

  @Override
  public JobSpec spec() {
    return job.job().state().spec();
  }

  @Override
  public Duration rescalePause() {
    return job.rescalePause();
  }

  /** Jobs of a family train the same. */
  @Override
  public String name() {
    return spec().family().isEmpty() ? spec().id().toString() : spec().family();
  }

  @Override
  public List<String> gpuTypes() {
    return truth.gpuTypes();
  }

  @Override
  public BatchLimits batchLimits(String gpuType) {
    return truth.batchLimits(gpuType);
  }

  @Override
  public GpuTraits traits(String gpuType) {
    GpuTraits own = spec().byGpuType().get(gpuType);
    return own == null
        ? new GpuTraits(batchLimits(gpuType), spec().slotsPerReplica(gpuType), 0)
        : own;
  }

  @Override
  public int maxReplicas() {
    return truth.maxReplicas();
  }

  @Override
  public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
    return truth.stepTime(gpuType, replicasByNode, atomicBatchSize);
  }

  @Override
  public int epochs() {
    return truth.epochs();
  }

  @Override
  public double progressAt(int epoch) {
    return truth.progressAt(epoch);
  }

  @Override
  public GradientStats gradient(int globalBatch, int finishedEpochs) {
    return truth.gradient(globalBatch, finishedEpochs);
  }

  @Override
  public double remainingSteps(int globalBatch, int finishedEpochs) {
    return truth.remainingSteps(globalBatch, finishedEpochs);
  }

  @Override
  public double restartSeconds() {
    return truth.restartSeconds();
  }
}
