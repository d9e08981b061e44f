/** Tests of how replicas agree on sums by GPUs. */
@NullMarked
package dev.kastor.agent.nccl;

import org.jspecify.annotations.NullMarked;
