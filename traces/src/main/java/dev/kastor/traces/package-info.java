/**
 * Who trains what: the truth about kinds of jobs, and workloads of them.
 *
 * <p>Entry types: {@link dev.kastor.traces.Applications} and {@link dev.kastor.traces.Workload}.
 * Formats, generated workloads, fits and summaries are packages of their own. Depends on
 * scheduler-core.
 */
@NullMarked
package dev.kastor.traces;

import org.jspecify.annotations.NullMarked;
