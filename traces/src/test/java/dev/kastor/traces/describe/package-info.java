/** Tests of the package. */
@NullMarked
package dev.kastor.traces.describe;

import org.jspecify.annotations.NullMarked;
