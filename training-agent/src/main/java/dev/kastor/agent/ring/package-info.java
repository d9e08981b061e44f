/**
 * The data plane of one job: authenticated TCP connections between its replicas, the ring that sums
 * gradients over them, and the transfer of training state to a replica that lacks it.
 *
 * <p>Entry types are {@link dev.kastor.agent.ring.RingListener}, one per process, and {@link
 * dev.kastor.agent.ring.Ring}, one per generation. Connections are authenticated by a secret that
 * only the job's pods hold, and what flows over them is encrypted with keys that come from it
 * ({@link dev.kastor.agent.ring.RingCipher}). The package depends on the JDK only.
 */
@NullMarked
package dev.kastor.agent.ring;

import org.jspecify.annotations.NullMarked;
