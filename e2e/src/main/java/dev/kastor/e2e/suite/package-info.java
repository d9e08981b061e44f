/**
 * Run of the suite that works against a real Kubernetes.
 *
 * <p>{@link dev.kastor.e2e.suite.Suite} is its entry point; {@code e2e/run} starts the cluster and
 * calls it. Here too is what scenarios share: waiting, progress, measurements, cleaning up. Depends
 * on {@code e2e.cluster} and {@code e2e.watch}.
 */
@NullMarked
package dev.kastor.e2e.suite;

import org.jspecify.annotations.NullMarked;
