/**
 * Program of one's own that jobs of the suite train: {@link dev.kastor.e2e.program.SlowReading}. It
 * runs in their pods, from a jar that {@code e2e.cluster} mounts there; the suite itself reads its
 * classes as files alone.
 *
 * <p>Depends on the engine alone.
 */
@NullMarked
package dev.kastor.e2e.program;

import org.jspecify.annotations.NullMarked;
