/**
 * Statements about the difference between two files of runs.
 *
 * <p>Entry type: {@link dev.kastor.simulator.compare.Comparison}, of two {@link
 * dev.kastor.simulator.compare.RunFile}s.
 */
@NullMarked
package dev.kastor.simulator.compare;

import org.jspecify.annotations.NullMarked;
