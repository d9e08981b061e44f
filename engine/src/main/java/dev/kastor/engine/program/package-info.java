/**
 * The training programs that a TrainingJob can name, found through {@link
 * dev.kastor.engine.program.Programs}.
 *
 * <p>A program binds a network of {@code engine.nn} to data of {@code engine.data} and an optimizer
 * of {@code engine.optim}, all chosen by string parameters that are checked before anything is
 * loaded.
 */
@NullMarked
package dev.kastor.engine.program;

import org.jspecify.annotations.NullMarked;
