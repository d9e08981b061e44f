/** Tests of output. */
@NullMarked
package dev.kastor.cli.terminal;

import org.jspecify.annotations.NullMarked;
