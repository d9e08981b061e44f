/**
 * Selectors of examples that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.select.ExampleSelectors}; each is one class and one
 * line there. Who trains knows {@link dev.kastor.engine.train.ExampleSelector} alone.
 */
@NullMarked
package dev.kastor.engine.select;

import org.jspecify.annotations.NullMarked;
