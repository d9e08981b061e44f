/** Tests of the package. */
@NullMarked
package dev.kastor.traces.format;

import org.jspecify.annotations.NullMarked;
