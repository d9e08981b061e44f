/**
 * A backend for NVIDIA GPUs: kernels of our own as PTX text, which the driver compiles for the GPU
 * at hand, over the CUDA driver API.
 *
 * <p>{@link dev.kastor.engine.backend.cuda.Compilation} decides which nodes have a buffer; whatever
 * lies between buffers is computed where it is read ({@link
 * dev.kastor.engine.backend.cuda.Elements}). Products and convolutions are one tiled kernel that
 * differs in where its operands lie ({@link dev.kastor.engine.backend.cuda.Product}), or where the
 * machine has them NVIDIA's cuBLASLt ({@link dev.kastor.engine.backend.cuda.CublasLt}) and cuDNN
 * ({@link dev.kastor.engine.backend.cuda.Cudnn}). A {@link dev.kastor.engine.backend.cuda.Gpu} runs
 * the kernels: JCuda's driver API, or in tests an interpreter of the same text. Entry: {@link
 * dev.kastor.engine.backend.cuda.CudaBackend}.
 */
@NullMarked
package dev.kastor.engine.backend.cuda;

import org.jspecify.annotations.NullMarked;
