/**
 * Signals by which parts of the operator tell others that something happened, and the mandate by
 * which this operator may write. Depends on nothing of the operator but its metrics. Entry type:
 * {@link dev.kastor.operator.signal.Signals}.
 */
@NullMarked
package dev.kastor.operator.signal;

import org.jspecify.annotations.NullMarked;
