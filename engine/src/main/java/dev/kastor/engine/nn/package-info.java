/**
 * Networks as graph builders, and {@link dev.kastor.engine.nn.GraphModel}, which owns a network's
 * parameters and runs it on a backend. Depends on the other engine packages but not on {@code
 * train}.
 */
@NullMarked
package dev.kastor.engine.nn;

import org.jspecify.annotations.NullMarked;
