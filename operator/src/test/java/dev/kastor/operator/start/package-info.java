/** Tests of the parts of a start. */
@NullMarked
package dev.kastor.operator.start;

import org.jspecify.annotations.NullMarked;
