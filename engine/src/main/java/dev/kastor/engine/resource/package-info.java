/**
 * What outlives a run and is shared by concurrent ones: {@link dev.kastor.engine.resource.Variable}
 * and {@link dev.kastor.engine.resource.TensorQueue}, and calls of Java functions from a graph.
 * Their state belongs to a session. Depends on {@code graph}, {@code exec} and {@code tensor}.
 */
@NullMarked
package dev.kastor.engine.resource;

import org.jspecify.annotations.NullMarked;
