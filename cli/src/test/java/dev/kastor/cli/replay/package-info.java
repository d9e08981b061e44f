/** Tests of replays. */
@NullMarked
package dev.kastor.cli.replay;

import org.jspecify.annotations.NullMarked;
