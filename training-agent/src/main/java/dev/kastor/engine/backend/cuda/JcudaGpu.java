package dev.kastor.engine.backend.cuda;

import static dev.kastor.engine.backend.cuda.GpuCheck.check;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUjit_option;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.driver.JITOptions;

/**
 * A GPU through JCuda's binding of the CUDA driver API.
 *
 * <p>Launches are captured once as a graph of the driver's, so that a run is one call and not one
 * for each kernel (CUDA C++ Programming Guide, CUDA Graphs). It is never closed: a process has one
 * context for each device, as long as it lives.
 */
final class JcudaGpu implements Gpu {
  private static final int LOG_BYTES = 8192;

  /** A buffer of Java's has at most so many bytes; a multiple of any alignment. */
  private static final long LARGEST_COPY = 1 << 30;

  private final String name;
  private final CUcontext context;
  private final CUstream stream = new CUstream();

  private JcudaGpu(String name, CUcontext context) {
    this.name = name;
    this.context = context;
    enter();
    check(
        "cuStreamCreate",
        JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
  }

  /**
   * Opens a device that {@link GpuCheck} found.
   *
   * @throws IllegalStateException if the driver refuses
   */
  static JcudaGpu open(int number, String name) {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, number));
    CUcontext context = new CUcontext();
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    return new JcudaGpu(name, context);
  }

  /** Any thread may call. */
  private void enter() {
    check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long allocate(long bytes) {
    enter();
    CUdeviceptr pointer = new CUdeviceptr();
    int result = JCudaDriver.cuMemAlloc(pointer, bytes);
    if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
      long[] free = new long[1];
      long[] all = new long[1];
      check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, all));
      throw new OutOfGpuMemoryException(
          "A graph needs %d bytes of GPU memory, and %d of %d are free."
              .formatted(bytes, free[0], all[0]));
    }
    check("cuMemAlloc", result);
    return new Address(pointer).value();
  }

  @Override
  public void free(long address) {
    enter();
    check("cuMemFree", JCudaDriver.cuMemFree(new Address(address)));
  }

  @Override
  public Module load(String ptx) {
    enter();
    CUmodule module = new CUmodule();
    JITOptions options = new JITOptions();
    options.putBytes(CUjit_option.CU_JIT_ERROR_LOG_BUFFER, new byte[LOG_BYTES]);
    options.putInt(CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
    int result = JCudaDriver.cuModuleLoadDataJIT(module, pointer(ptx), options);
    if (result != CUresult.CUDA_SUCCESS) {
      throw new IllegalStateException(
          "The driver refuses the kernels (%s): %s"
              .formatted(
                  CUresult.stringFor(result),
                  options.getString(CUjit_option.CU_JIT_ERROR_LOG_BUFFER)));
    }
    return new Loaded(module);
  }

  private static Pointer pointer(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    return Pointer.to(Arrays.copyOf(bytes, bytes.length + 1));
  }

  @Override
  public void copyIn(long address, MemorySegment from) {
    enter();
    for (long at = 0; at < from.byteSize(); at += LARGEST_COPY) {
      long bytes = Math.min(LARGEST_COPY, from.byteSize() - at);
      Pointer host = Pointer.to(from.asSlice(at, bytes).asByteBuffer());
      check(
          "cuMemcpyHtoDAsync",
          JCudaDriver.cuMemcpyHtoDAsync(new Address(address + at), host, bytes, stream));
    }
  }

  @Override
  public void copyOut(MemorySegment to, long address) {
    enter();
    for (long at = 0; at < to.byteSize(); at += LARGEST_COPY) {
      long bytes = Math.min(LARGEST_COPY, to.byteSize() - at);
      Pointer host = Pointer.to(to.asSlice(at, bytes).asByteBuffer());
      check(
          "cuMemcpyDtoHAsync",
          JCudaDriver.cuMemcpyDtoHAsync(host, new Address(address + at), bytes, stream));
    }
  }

  @Override
  public void await() {
    enter();
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
  }

  /** A device pointer made of a number: JCuda has none, but its pointers have offsets. */
  private static final class Address extends CUdeviceptr {
    Address(long value) {
      super(new CUdeviceptr(), value);
    }

    Address(CUdeviceptr pointer) {
      super(pointer);
    }

    long value() {
      return getNativePointer() + getByteOffset();
    }
  }

  private final class Loaded implements Module {
    private final CUmodule module;

    Loaded(CUmodule module) {
      this.module = module;
    }

    @Override
    public Sequence sequence(List<Call> calls) {
      enter();
      List<CUfunction> functions = calls.stream().map(this::function).toList();
      // A stream of its own, so that what others do meanwhile is not captured too.
      CUstream recorder = new CUstream();
      check(
          "cuStreamCreate",
          JCudaDriver.cuStreamCreate(recorder, CUstream_flags.CU_STREAM_NON_BLOCKING));
      try {
        return new Captured(capture(recorder, calls, functions));
      } finally {
        check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(recorder));
      }
    }

    private CUfunction function(Call call) {
      CUfunction function = new CUfunction();
      check(
          "cuModuleGetFunction",
          JCudaDriver.cuModuleGetFunction(function, module, call.launch().name()));
      return function;
    }

    private static CUgraphExec capture(
        CUstream recorder, List<Call> calls, List<CUfunction> functions) {
      check(
          "cuStreamBeginCapture",
          JCudaDriver.cuStreamBeginCapture(
              recorder, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
      CUgraph graph = new CUgraph();
      RuntimeException failed = null;
      try {
        for (int i = 0; i < calls.size(); i++) {
          launch(functions.get(i), calls.get(i), recorder);
        }
      } catch (RuntimeException e) {
        failed = e;
      }
      int ended = JCudaDriver.cuStreamEndCapture(recorder, graph);
      if (failed != null) {
        if (ended == CUresult.CUDA_SUCCESS) {
          JCudaDriver.cuGraphDestroy(graph);
        }
        throw failed;
      }
      check("cuStreamEndCapture", ended);
      CUgraphExec executable = new CUgraphExec();
      try {
        check("cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(executable, graph, 0));
      } finally {
        check("cuGraphDestroy", JCudaDriver.cuGraphDestroy(graph));
      }
      return executable;
    }

    private static void launch(CUfunction function, Call call, CUstream stream) {
      Launch launch = call.launch();
      NativePointerObject[] arguments =
          call.addresses().stream()
              .map(address -> Pointer.to(new Address(address)))
              .toArray(NativePointerObject[]::new);
      check(
          "cuLaunchKernel",
          JCudaDriver.cuLaunchKernel(
              function,
              launch.x(),
              launch.y(),
              launch.z(),
              launch.threads(),
              1,
              1,
              0,
              stream,
              Pointer.to(arguments),
              null));
    }

    @Override
    public void close() {
      enter();
      check("cuModuleUnload", JCudaDriver.cuModuleUnload(module));
    }
  }

  private final class Captured implements Sequence {
    private final CUgraphExec executable;

    Captured(CUgraphExec executable) {
      this.executable = executable;
    }

    @Override
    public void run() {
      enter();
      check("cuGraphLaunch", JCudaDriver.cuGraphLaunch(executable, stream));
    }

    @Override
    public void close() {
      enter();
      check("cuGraphExecDestroy", JCudaDriver.cuGraphExecDestroy(executable));
    }
  }
}
