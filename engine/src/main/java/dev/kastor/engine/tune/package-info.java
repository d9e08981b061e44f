/**
 * Tuners that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.tune.Tuners}; each is one class and one line there.
 * The trainer knows {@link dev.kastor.engine.train.Tuner} alone.
 */
@NullMarked
package dev.kastor.engine.tune;

import org.jspecify.annotations.NullMarked;
