/**
 * From a TrainingJob and its allocation to pods, phase and conditions.
 *
 * <p>Entry type: {@link dev.kastor.operator.job.TrainingJobReconciler}. What to do is decided by
 * pure types ({@link dev.kastor.operator.job.PodPlan}, {@link dev.kastor.operator.job.Failures},
 * {@link dev.kastor.operator.job.JobConditions}); the reconciler only carries it out.
 */
@NullMarked
package dev.kastor.operator.job;

import org.jspecify.annotations.NullMarked;
