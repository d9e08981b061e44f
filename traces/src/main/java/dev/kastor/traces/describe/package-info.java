/**
 * Sums up traces for people.
 *
 * <p>Entry type: {@link dev.kastor.traces.describe.TraceSummary}. Depends on the traces package.
 */
@NullMarked
package dev.kastor.traces.describe;

import org.jspecify.annotations.NullMarked;
