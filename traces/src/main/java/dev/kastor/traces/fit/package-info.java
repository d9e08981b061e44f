/**
 * Turns measured applications into parametric ones.
 *
 * <p>Entry type: {@link dev.kastor.traces.fit.ApplicationFit}. Depends on the traces package and
 * scheduler-core.
 */
@NullMarked
package dev.kastor.traces.fit;

import org.jspecify.annotations.NullMarked;
