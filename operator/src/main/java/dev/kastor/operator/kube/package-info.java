/**
 * Access to the API server: the cache, writers of statuses and events, limits and retries, and what
 * labels, annotations and owners mean. Knows no rule of scheduling. Entry type: {@link
 * dev.kastor.operator.kube.ClusterCache}.
 */
@NullMarked
package dev.kastor.operator.kube;

import org.jspecify.annotations.NullMarked;
