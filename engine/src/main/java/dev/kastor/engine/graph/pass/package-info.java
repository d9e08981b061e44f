/**
 * Rewrites of graphs that keep their values, each a plug-in that can be switched by its name.
 *
 * <p>Entry types: {@link dev.kastor.engine.graph.pass.GraphPass} and {@link
 * dev.kastor.engine.graph.pass.PassPipeline}. Depends on {@code graph} and on plug-ins in general.
 */
@NullMarked
package dev.kastor.engine.graph.pass;

import org.jspecify.annotations.NullMarked;
