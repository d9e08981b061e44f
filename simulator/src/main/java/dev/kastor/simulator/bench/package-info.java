/**
 * Measurements of Kastor's own speed, started by the scripts in the repository's {@code bench}
 * folder.
 */
@NullMarked
package dev.kastor.simulator.bench;

import org.jspecify.annotations.NullMarked;
