/**
 * The control for all other backends: one plain loop per primitive, in double precision. Slow, and
 * everywhere. Entry: {@link dev.kastor.engine.backend.reference.ReferenceBackend}.
 */
@NullMarked
package dev.kastor.engine.backend.reference;

import org.jspecify.annotations.NullMarked;
