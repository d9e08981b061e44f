package dev.kastor.engine.checkpoint;

/**
 * Parameters of a trained model, for a job that begins with them.
 *
 * <p>The arrays are owned by the record and not copied.
 *
 * @param step of the checkpoint that they are of
 * @param parameters flat parameters
 * @param statistics flat running statistics
 */
// Arrays on purpose: vectors of millions of floats, never compared.
@SuppressWarnings("ArrayRecordComponent")
public record TrainedParameters(long step, float[] parameters, float[] statistics) {}
