/**
 * What a device must offer: {@link dev.kastor.engine.backend.Backend} compiles a graph to an {@link
 * dev.kastor.engine.backend.Executable}. Depends on {@code graph} and {@code tensor}.
 */
@NullMarked
package dev.kastor.engine.backend;

import org.jspecify.annotations.NullMarked;
