/** Readers, and the files that Kastor ships. */
@NullMarked
package dev.kastor.traces;

import org.jspecify.annotations.NullMarked;
