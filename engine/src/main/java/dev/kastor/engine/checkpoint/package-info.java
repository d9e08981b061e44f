/**
 * Durable training state.
 *
 * <p>{@link dev.kastor.engine.checkpoint.CheckpointStore} keeps a directory of checkpoints that
 * survives a kill at any instant; {@link dev.kastor.engine.checkpoint.StateCodec} is the byte form
 * of a {@link dev.kastor.engine.train.TrainingState}, the same in a file and between replicas.
 */
@NullMarked
package dev.kastor.engine.checkpoint;

import org.jspecify.annotations.NullMarked;
