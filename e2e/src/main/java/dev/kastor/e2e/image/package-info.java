/**
 * Container images of the operator and the agent, made without a container engine.
 *
 * <p>{@link dev.kastor.e2e.image.Images} is its entry point; it writes a folder in the OCI image
 * layout 1.0. It depends on nothing of Kastor.
 */
@NullMarked
package dev.kastor.e2e.image;

import org.jspecify.annotations.NullMarked;
