/**
 * Release on a real Kubernetes: the files that {@code ./kastor release} wrote, served by a registry
 * that asks for a password, installed, upgraded from the release before, and removed. Entry type:
 * {@code ReleaseScenario}; runs with {@code ./kastor e2e --release FOLDER} alone.
 *
 * <p>Depends on {@code e2e.cluster}, {@code e2e.image} and {@code e2e.suite}.
 */
@NullMarked
package dev.kastor.e2e.release;

import org.jspecify.annotations.NullMarked;
