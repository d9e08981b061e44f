/**
 * Collectives that Kastor ships: how replicas sum their gradients.
 *
 * <p>Entered through {@link dev.kastor.engine.collective.Collectives}; each is one class and one
 * line there. The trainer knows {@link dev.kastor.engine.train.Collective} alone.
 */
@NullMarked
package dev.kastor.engine.collective;

import org.jspecify.annotations.NullMarked;
