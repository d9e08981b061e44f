/**
 * Choice among the backends of this machine.
 *
 * <p>Entry type: {@link dev.kastor.engine.backend.registry.Backends}. Depends on the backends that
 * it chooses from, so none of them may use it.
 */
@NullMarked
package dev.kastor.engine.backend.registry;

import org.jspecify.annotations.NullMarked;
