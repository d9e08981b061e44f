/** {@code kastor run}: one command line becomes a TrainingJob that is followed until it ends. */
@NullMarked
package dev.kastor.cli.run;

import org.jspecify.annotations.NullMarked;
