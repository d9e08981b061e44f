/** Tests of the command line. */
@NullMarked
package dev.kastor.cli;

import org.jspecify.annotations.NullMarked;
