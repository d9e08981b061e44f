package dev.kastor.operator.history;

import dev.kastor.protocol.BatchPlan;
import java.time.Instant;

/**
 * What one report said of a job; a number that was not known is {@code NaN}.
 *
 * @param at when the report arrived
 * @param step optimizer steps applied
 * @param loss mean training loss since the report before
 * @param throughput examples per second, pauses included
 * @param goodput effective examples per second, pauses included
 * @param efficiency statistical efficiency of the batch in force
 * @param stepsPerSecond optimizer steps per second, pauses included
 * @param noiseScale gradient noise scale in examples; infinite while no signal is seen
 * @param learningRate in force at the last step
 * @param batch batch plan in force
 * @param replicas replicas that trained
 */
public record Sample(
    Instant at,
    long step,
    double loss,
    double throughput,
    double goodput,
    double efficiency,
    double stepsPerSecond,
    double noiseScale,
    double learningRate,
    BatchPlan batch,
    int replicas) {
  /** Examples of one optimizer step. */
  public int globalBatch() {
    return batch.globalBatchSize(replicas);
  }
}
