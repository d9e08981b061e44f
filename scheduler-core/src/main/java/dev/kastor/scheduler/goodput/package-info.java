/**
 * Goodput: throughput times statistical efficiency, as a function of placement and batch.
 *
 * <p>Entry type: {@link dev.kastor.scheduler.goodput.GoodputModel}, the prediction a policy asks.
 * Its constants are found in {@code estimate}. Depends on the wire records only. Source of the
 * formulas: Pollux, OSDI 2021, section 3.
 */
@NullMarked
package dev.kastor.scheduler.goodput;

import org.jspecify.annotations.NullMarked;
