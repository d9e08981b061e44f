/**
 * Computing at once, op by op, and staging what is computed often (Agrawal et al., MLSys 2019):
 * {@link dev.kastor.engine.eager.Eager} gives values to nodes, {@link
 * dev.kastor.engine.eager.Staged} traces a function to a graph that runs as a whole. Depends on
 * {@code graph}, {@code exec}, {@code backend} and {@code tensor}.
 */
@NullMarked
package dev.kastor.engine.eager;

import org.jspecify.annotations.NullMarked;
