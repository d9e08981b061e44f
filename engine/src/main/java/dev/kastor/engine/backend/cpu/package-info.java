/**
 * The fast backend on a CPU: oneDNN for matrix products and convolutions, Java loops for the rest.
 *
 * <p>Elementwise ops are fused: an {@link dev.kastor.engine.backend.cpu.Expression} computes a
 * block at a time in heap arrays that stay in the first-level cache, where plain loops over arrays
 * become vector instructions. Buffers share memory by lifetime. Entry: {@link
 * dev.kastor.engine.backend.cpu.CpuBackend}.
 */
@NullMarked
package dev.kastor.engine.backend.cpu;

import org.jspecify.annotations.NullMarked;
