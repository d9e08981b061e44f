/**
 * Goodput: throughput times statistical efficiency, fitted from what jobs report.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.goodput.GoodputModel}, the prediction a policy asks,
 * {@code GoodputEstimator}, which turns telemetry into it, and {@code Learner}, which adds what
 * jobs of the same family left in a {@code FamilyMemory}. Source of the formulas: Pollux, OSDI
 * 2021, sections 3 and 4.
 */
@NullMarked
package dev.kastor.scheduler.goodput;

import org.jspecify.annotations.NullMarked;
