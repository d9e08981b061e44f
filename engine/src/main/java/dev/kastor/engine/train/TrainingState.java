package dev.kastor.engine.train;

/**
 * All that replicas share: copying it makes a new replica identical to the others.
 *
 * <p>The arrays are owned by the state and not copied.
 *
 * @param step optimizer steps applied
 * @param scaleInvariantSteps the same in steps of the initial batch
 * @param cursor examples taken from the endless sequence of shuffled epochs so far
 * @param auditCount examples that passes reported as trained
 * @param auditDigest order-free digest of those examples
 * @param parameters flat parameters
 * @param optimizerState flat optimizer state
 * @param statistics flat running statistics
 * @param noiseState the noise-scale estimator's state
 */
// Arrays on purpose: vectors of millions of floats, written in place, never compared.
@SuppressWarnings("ArrayRecordComponent")
public record TrainingState(
    long step,
    double scaleInvariantSteps,
    long cursor,
    long auditCount,
    long auditDigest,
    float[] parameters,
    float[] optimizerState,
    float[] statistics,
    double[] noiseState) {}
