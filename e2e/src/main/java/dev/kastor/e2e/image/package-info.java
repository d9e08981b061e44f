/**
 * Container images of the operator and the agent, made without a container engine.
 *
 * <p>{@link dev.kastor.e2e.image.Images} is its entry point; it writes a folder in the OCI image
 * layout 1.0. Of Kastor it uses the rehearsal of the agent in {@code local} alone.
 */
@NullMarked
package dev.kastor.e2e.image;

import org.jspecify.annotations.NullMarked;
