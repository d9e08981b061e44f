package dev.kastor.engine.backend.cuda;

import static dev.kastor.engine.backend.cuda.GpuCheck.check;

import java.lang.foreign.MemorySegment;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A stream of a GPU that values pass through on their way between hosts, and the memory for them,
 * beside all that a {@link JcudaGpu} computes. Any thread may call, one at a time.
 */
final class GpuLane implements AutoCloseable {
  private final CUcontext context = new CUcontext();
  private final CUdeviceptr buffer = new CUdeviceptr();
  private final JcudaStream stream;

  /**
   * Takes memory.
   *
   * @param number of the device that {@link GpuCheck} found
   * @throws IllegalStateException if the driver refuses
   */
  GpuLane(int number, long bytes) {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, number));
    // Never released: the one context of the process for this device.
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    enter();
    check("cuMemAlloc", JCudaDriver.cuMemAlloc(buffer, bytes));
    try {
      stream = new JcudaStream();
    } catch (RuntimeException e) {
      check("cuMemFree", JCudaDriver.cuMemFree(buffer));
      throw e;
    }
  }

  /** Makes the context current for whatever this thread calls next. */
  void enter() {
    check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
  }

  /** Address of the memory. */
  long address() {
    return new DeviceAddress(buffer).value();
  }

  /** Handle of the stream. */
  long stream() {
    return stream.handle();
  }

  /** Begins to copy to the memory; the source must stay as it is until {@link #idle}. */
  void in(MemorySegment from) {
    enter();
    check(
        "cuMemcpyHtoDAsync",
        JCudaDriver.cuMemcpyHtoDAsync(
            buffer, Pointer.to(from.asByteBuffer()), from.byteSize(), stream));
  }

  /** Begins to copy from the memory. */
  void out(MemorySegment to) {
    enter();
    check(
        "cuMemcpyDtoHAsync",
        JCudaDriver.cuMemcpyDtoHAsync(
            Pointer.to(to.asByteBuffer()), buffer, to.byteSize(), stream));
  }

  /**
   * Whether all that was begun is done; never waits.
   *
   * @throws IllegalStateException if something failed
   */
  boolean idle() {
    enter();
    int result = JCudaDriver.cuStreamQuery(stream);
    if (result == CUresult.CUDA_ERROR_NOT_READY) {
      return false;
    }
    check("cuStreamQuery", result);
    return true;
  }

  /** Waits for what was begun: the hosts' memory is free afterwards. */
  @Override
  public void close() {
    enter();
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
    check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream));
    check("cuMemFree", JCudaDriver.cuMemFree(buffer));
  }
}
