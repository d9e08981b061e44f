/**
 * Checkpoints of the jobs of this machine's cluster, and what is exported from them. Entry type:
 * {@link dev.kastor.cli.checkpoint.CheckpointFolder}.
 *
 * <p>Depends on {@code cli.connect}, {@code cli.plugin}, {@code cli.view} and the engine.
 */
@NullMarked
package dev.kastor.cli.checkpoint;

import org.jspecify.annotations.NullMarked;
