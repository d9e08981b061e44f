/**
 * The cluster as the operator sees and changes it: {@link dev.kastor.operator.cluster.ClusterCache}
 * reads it through informers, {@link dev.kastor.operator.cluster.StatusWriter} writes statuses,
 * {@link dev.kastor.operator.cluster.KubernetesCluster} is what the scheduling loop gets.
 */
@NullMarked
package dev.kastor.operator.cluster;

import org.jspecify.annotations.NullMarked;
