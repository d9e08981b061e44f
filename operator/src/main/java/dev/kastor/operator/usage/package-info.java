/**
 * Usage of GPUs: slot-milliseconds that jobs held, by day and by what became of them.
 *
 * <p>Entry type: {@link dev.kastor.operator.usage.UsageLedger}. Depends on the job's kind, on
 * {@code kube} and on {@code mapping}; those who decide, write and answer tell it and ask it.
 */
@NullMarked
package dev.kastor.operator.usage;

import org.jspecify.annotations.NullMarked;
