/**
 * Estimation of goodput models from what jobs report.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.estimate.GoodputEstimator}, which fits a model to the
 * telemetry of one job, and {@link dev.kastor.scheduler.estimate.Learner}, which adds what jobs of
 * the same family left in a {@link dev.kastor.scheduler.estimate.FamilyMemory}. Depends on the
 * model and the wire records. Source of the formulas: Pollux, OSDI 2021, section 4.
 */
@NullMarked
package dev.kastor.scheduler.estimate;

import org.jspecify.annotations.NullMarked;
