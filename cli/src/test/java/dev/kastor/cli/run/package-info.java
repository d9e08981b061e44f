/** Tests of {@code kastor run}. */
@NullMarked
package dev.kastor.cli.run;

import org.jspecify.annotations.NullMarked;
