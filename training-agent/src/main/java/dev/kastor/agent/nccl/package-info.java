/**
 * Gradients summed between GPUs by NVIDIA's NCCL instead of over the ring's connections. A job asks
 * for it by the parameter {@code sums: nccl}; members for whom it does not work sum over the ring,
 * all of them. Plug-in point: {@link dev.kastor.agent.ring.Sums.Maker}.
 */
@NullMarked
package dev.kastor.agent.nccl;

import org.jspecify.annotations.NullMarked;
