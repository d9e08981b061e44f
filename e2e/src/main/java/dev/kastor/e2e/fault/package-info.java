/**
 * What can go wrong in a cluster, done on purpose.
 *
 * <p>{@link dev.kastor.e2e.fault.Fault} is its entry type. The script {@code e2e/fault} does what
 * the API server cannot be asked for.
 */
@NullMarked
package dev.kastor.e2e.fault;

import org.jspecify.annotations.NullMarked;
