/**
 * Kastor on one machine: {@link dev.kastor.local.LocalCluster} starts the embedded API server, the
 * kubelet and the operator, keeps the operator alive, and ends everything again.
 *
 * <p>Below it lie {@code local.api} and {@code local.kubelet}; of other modules it uses {@code
 * crds} alone. The command line and {@code local.rehearsal} lie above.
 */
@NullMarked
package dev.kastor.local;

import org.jspecify.annotations.NullMarked;
