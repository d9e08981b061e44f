package dev.kastor.scheduler;

import java.time.Instant;

/**
 * What a user asked for, as far as scheduling goes.
 *
 * @param id the job
 * @param submitted when it was submitted
 * @param elasticity what may change
 * @param batchLimits the batches it may use; for {@code Elastic} and {@code Rigid} jobs the global
 *     batch stays at {@code initialGlobalBatch}
 * @param gpuType GPU type it must run on; empty for any
 */
public record JobSpec(
    JobId id, Instant submitted, Elasticity elasticity, BatchLimits batchLimits, String gpuType) {}
