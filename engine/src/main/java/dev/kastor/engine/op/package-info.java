/**
 * Ops defined by primitives for which backends may have faster kernels, one record per file.
 * Depends on {@code graph} and {@code tensor}.
 */
@NullMarked
package dev.kastor.engine.op;

import org.jspecify.annotations.NullMarked;
