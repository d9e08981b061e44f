/**
 * A kubelet and scheduler for one machine: {@link dev.kastor.local.kubelet.Kubelet} places pods on
 * its nodes and runs each as an operating-system process.
 *
 * <p>Depends on {@code dev.kastor.local.api} alone; what an image's entry point is comes in as
 * {@link dev.kastor.local.kubelet.EntryPoint}.
 */
@NullMarked
package dev.kastor.local.kubelet;

import org.jspecify.annotations.NullMarked;
