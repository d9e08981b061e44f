/**
 * Compares the training engine with a peer on this machine: {@link
 * dev.kastor.bench.EngineBenchmark}, by turns and each side in a process of its own. Depends on
 * {@code local} for where the parts of Kastor lie.
 */
@NullMarked
package dev.kastor.bench;

import org.jspecify.annotations.NullMarked;
