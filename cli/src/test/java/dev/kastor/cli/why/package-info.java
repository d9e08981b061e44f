/** Tests of reasons. */
@NullMarked
package dev.kastor.cli.why;

import org.jspecify.annotations.NullMarked;
