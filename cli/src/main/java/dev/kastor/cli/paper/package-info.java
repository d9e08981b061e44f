/** The command {@code kastor paper}: {@link dev.kastor.cli.paper.PaperCommand}. */
@NullMarked
package dev.kastor.cli.paper;

import org.jspecify.annotations.NullMarked;
