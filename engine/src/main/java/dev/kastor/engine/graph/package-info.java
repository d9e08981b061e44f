/**
 * Computations as immutable graphs of typed, shaped {@link dev.kastor.engine.graph.Node}s.
 *
 * <p>{@link dev.kastor.engine.graph.Primitive} is the closed set of ops each backend must know;
 * {@link dev.kastor.engine.graph.Fused} is the open side: ops defined by primitives. Depends on
 * {@code tensor} only.
 */
@NullMarked
package dev.kastor.engine.graph;

import org.jspecify.annotations.NullMarked;
