/** Files that are written at once, categories and timed applications. */
@NullMarked
package dev.kastor.traces;

import org.jspecify.annotations.NullMarked;
