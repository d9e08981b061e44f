/** Tests of the package. */
@NullMarked
package dev.kastor.traces.measured;

import org.jspecify.annotations.NullMarked;
