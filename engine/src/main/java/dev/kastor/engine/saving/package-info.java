/**
 * Saves and restores variables as part of a graph: {@link dev.kastor.engine.saving.Saver}.
 *
 * <p>Each device writes what it has; a save is there once all have, and only then.
 */
@NullMarked
package dev.kastor.engine.saving;

import org.jspecify.annotations.NullMarked;
