/**
 * Optimizers over flat vectors and the rules that scale their learning rate with the batch.
 *
 * <p>Entered through {@link dev.kastor.engine.optim.Optimizers} and {@link
 * dev.kastor.engine.optim.LearningRateRules}; each new method is one class and one line there.
 */
@NullMarked
package dev.kastor.engine.optim;

import org.jspecify.annotations.NullMarked;
