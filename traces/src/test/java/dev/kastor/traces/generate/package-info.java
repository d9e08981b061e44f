/** Tests of the package. */
@NullMarked
package dev.kastor.traces.generate;

import org.jspecify.annotations.NullMarked;
