/**
 * Truth about kinds of jobs, workloads of them, and the files that hold both.
 *
 * <p>Entry types: {@link dev.kastor.traces.Application} and {@link dev.kastor.traces.Workload}.
 * What reads applications of every kind is in {@code profile}, what reads traces in {@code format};
 * generated workloads, fits and summaries are packages of their own. Depends on scheduler-core and
 * knows none of them.
 */
@NullMarked
package dev.kastor.traces;

import org.jspecify.annotations.NullMarked;
