/**
 * The suite that runs against a real Kubernetes.
 *
 * <p>{@link dev.kastor.e2e.Suite} is its entry point; {@code e2e/run} starts the cluster and calls
 * it. Scenarios use the product as its users do, through the chart and the API server, and know
 * nothing of the operator's insides.
 */
@NullMarked
package dev.kastor.e2e;

import org.jspecify.annotations.NullMarked;
