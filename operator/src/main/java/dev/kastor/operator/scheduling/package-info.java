/**
 * The scheduling loop's host: the cluster as the loop sees it, its rounds, its fast path, and what
 * is told of decisions. Entry type: {@link dev.kastor.operator.scheduling.KubernetesCluster}.
 */
@NullMarked
package dev.kastor.operator.scheduling;

import org.jspecify.annotations.NullMarked;
