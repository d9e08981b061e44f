/**
 * Update stages that Kastor ships.
 *
 * <p>Entered through {@link dev.kastor.engine.update.UpdateStages}; each is one class and one line
 * there. Who applies updates knows {@link dev.kastor.engine.train.UpdateStage} alone.
 */
@NullMarked
package dev.kastor.engine.update;

import org.jspecify.annotations.NullMarked;
