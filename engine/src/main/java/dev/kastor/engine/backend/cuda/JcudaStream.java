package dev.kastor.engine.backend.cuda;

import static dev.kastor.engine.backend.cuda.GpuCheck.check;

import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A new stream of the current context, whose handle can be told to others than JCuda. */
final class JcudaStream extends CUstream {
  JcudaStream() {
    check(
        "cuStreamCreate", JCudaDriver.cuStreamCreate(this, CUstream_flags.CU_STREAM_NON_BLOCKING));
  }

  long handle() {
    return getNativePointer();
  }
}
