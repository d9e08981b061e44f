/**
 * Workloads and job profiles: what to replay, and how the replayed jobs behave.
 *
 * <p>Entry types: {@link dev.kastor.traces.Workload} and {@link dev.kastor.traces.JobProfile}, read
 * by their {@code read} methods. Depends on the scheduler's types only.
 */
@NullMarked
package dev.kastor.traces;

import org.jspecify.annotations.NullMarked;
