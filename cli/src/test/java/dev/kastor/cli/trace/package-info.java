/** Tests of commands about traces. */
@NullMarked
package dev.kastor.cli.trace;

import org.jspecify.annotations.NullMarked;
