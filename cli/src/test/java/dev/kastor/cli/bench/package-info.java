/** Tests of commands that measure. */
@NullMarked
package dev.kastor.cli.bench;

import org.jspecify.annotations.NullMarked;
