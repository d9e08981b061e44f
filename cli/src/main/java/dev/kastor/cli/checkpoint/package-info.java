/**
 * Checkpoints of the jobs of this machine's cluster. Entry type: {@link
 * dev.kastor.cli.checkpoint.CheckpointFolder}.
 *
 * <p>Depends on {@code cli.connect} and {@code cli.view}.
 */
@NullMarked
package dev.kastor.cli.checkpoint;

import org.jspecify.annotations.NullMarked;
