/**
 * Reverse-mode differentiation from graph to graph: {@link
 * dev.kastor.engine.autodiff.Gradients#of}. Depends on {@code graph} and {@code tensor}; backends
 * know nothing of it.
 */
@NullMarked
package dev.kastor.engine.autodiff;

import org.jspecify.annotations.NullMarked;
