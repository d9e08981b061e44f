/**
 * The operator: reconciles {@link dev.kastor.crds.trainingjob.TrainingJob}s into pods, hosts the
 * scheduling loop and serves agents.
 *
 * <p>It may use everything in {@code scheduler-core} and {@code crds}. All that a restart needs is
 * in the cluster; what is kept in memory is measured again by the running replicas.
 */
@NullMarked
package dev.kastor.operator;

import org.jspecify.annotations.NullMarked;
