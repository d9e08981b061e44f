/**
 * Cluster of the suite and what is installed on it, from outside: chart, operator, jobs,
 * namespaces, rights, the shell. Entry types: {@link dev.kastor.e2e.cluster.Chart}, {@link
 * dev.kastor.e2e.cluster.Jobs}.
 *
 * <p>Depends on {@code e2e.watch} alone, and mounts the classes of {@code e2e.program} into pods.
 */
@NullMarked
package dev.kastor.e2e.cluster;

import org.jspecify.annotations.NullMarked;
