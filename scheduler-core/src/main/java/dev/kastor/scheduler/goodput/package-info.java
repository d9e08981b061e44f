/**
 * Goodput: throughput times statistical efficiency, fitted from what jobs report.
 *
 * <p>Entry types: {@link dev.kastor.scheduler.goodput.GoodputModel}, the prediction a policy asks,
 * and {@code GoodputEstimator}, which turns telemetry into it. Source throughout: Pollux, OSDI
 * 2021, sections 3 and 4.
 */
@NullMarked
package dev.kastor.scheduler.goodput;

import org.jspecify.annotations.NullMarked;
