/**
 * A process of its own that watches a cluster and says when something is not as it must always be.
 *
 * <p>{@link dev.kastor.e2e.watch.Watcher} is its entry point. It believes the API server and the
 * processes on the nodes, and never asks the operator.
 */
@NullMarked
package dev.kastor.e2e.watch;

import org.jspecify.annotations.NullMarked;
