/** Tests of the package. */
@NullMarked
package dev.kastor.traces.fit;

import org.jspecify.annotations.NullMarked;
