/** Tests of checkpoints. */
@NullMarked
package dev.kastor.cli.checkpoint;

import org.jspecify.annotations.NullMarked;
