/**
 * Makes workloads that have the marginals of published cluster studies.
 *
 * <p>Entry types: {@link dev.kastor.traces.generate.WorkloadGenerator} and {@link
 * dev.kastor.traces.generate.ClusterStudies}. Depends on the traces package, scheduler-core and
 * Commons Math.
 */
@NullMarked
package dev.kastor.traces.generate;

import org.jspecify.annotations.NullMarked;
