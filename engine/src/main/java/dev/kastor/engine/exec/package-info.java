/**
 * Runs graphs with branches, loops and effects: {@link dev.kastor.engine.exec.Session} is the
 * entry.
 *
 * <p>A {@link dev.kastor.engine.graph.Graph} is lowered to a flat plan of steps, as TensorFlow does
 * it (Abadi et al., OSDI 2016; Yu et al., EuroSys 2018): regions of pure nodes that a backend
 * compiles as a whole, actions, and the primitives of control flow (switch, merge, enter, exit,
 * next iteration). A run passes counted values along the edges of its plan; values in branches that
 * are not taken are dead. Depends on {@code graph}, {@code backend} and {@code tensor}.
 */
@NullMarked
package dev.kastor.engine.exec;

import org.jspecify.annotations.NullMarked;
