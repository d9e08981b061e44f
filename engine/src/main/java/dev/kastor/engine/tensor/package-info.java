/**
 * Shapes, element types and off-heap arrays. {@link dev.kastor.engine.tensor.Tensor} is the entry;
 * depends on the JDK only.
 */
@NullMarked
package dev.kastor.engine.tensor;

import org.jspecify.annotations.NullMarked;
