package dev.kastor.engine.backend.cuda;

import static dev.kastor.engine.backend.cuda.GpuCheck.check;

import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUjit_option;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import jcuda.driver.JITOptions;
import org.jspecify.annotations.Nullable;

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

  /** Where a matrix begins at least, in bytes: {@link dev.kastor.engine.backend.MemoryPlan}. */
  private static final int ALIGNMENT = Tensor.ALIGNMENT;

  private final String name;
  private final CUcontext context;
  private final DeviceMemory memory;
  private final JcudaStream stream;
  private final JcudaStream copies;
  private final Libraries libraries;

  private JcudaGpu(
      String name,
      CUcontext context,
      @Nullable NativeLibrary products,
      @Nullable NativeLibrary convolutions,
      Precision precision,
      long capBytes) {
    this.context = context;
    memory = new DeviceMemory(new Driver(), capBytes);
    enter();
    stream = new JcudaStream();
    copies = new JcudaStream();
    try {
      long bytes = Math.min(capBytes, totalBytes());
      libraries = Libraries.open(products, convolutions, precision, this, bytes);
    } catch (RuntimeException e) {
      memory.trim();
      check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(copies));
      check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream));
      throw e;
    }
    this.name = name + ", " + libraries.names();
  }

  private static long totalBytes() {
    long[] free = new long[1];
    long[] all = new long[1];
    check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, all));
    return all[0];
  }

  /**
   * Opens a device that {@link GpuCheck} found.
   *
   * @param products library of products, if there is one
   * @param convolutions library of convolutions, if there is one; if it refuses there is none
   * @param precision of what they compute
   * @param capBytes the most that it takes of the GPU's memory
   * @throws IllegalStateException if the driver or the library of products refuses
   * @throws OutOfGpuMemoryException if there is not even what the library needs
   */
  static JcudaGpu open(
      int number,
      String name,
      @Nullable NativeLibrary products,
      @Nullable NativeLibrary convolutions,
      Precision precision,
      long capBytes) {
    CUdevice device = new CUdevice();
    check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, number));
    CUcontext context = new CUcontext();
    check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    return new JcudaGpu(name, context, products, convolutions, precision, capBytes);
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
  public boolean multiplies() {
    return libraries.multiplies();
  }

  @Override
  public boolean convolves(Correlation correlation) {
    enter();
    return libraries.convolves(correlation);
  }

  @Override
  public long allocate(long bytes) {
    return memory.allocate(bytes);
  }

  @Override
  public void free(long address) {
    memory.free(address);
  }

  /** What it holds of the GPU's memory. */
  DeviceMemory memory() {
    return memory;
  }

  /** The driver's own memory, to ask for which takes long. */
  private final class Driver implements DeviceMemory.Source {
    @Override
    public OptionalLong allocate(long bytes) {
      enter();
      CUdeviceptr pointer = new CUdeviceptr();
      int result = JCudaDriver.cuMemAlloc(pointer, bytes);
      if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
        return OptionalLong.empty();
      }
      check("cuMemAlloc", result);
      return OptionalLong.of(new DeviceAddress(pointer).value());
    }

    @Override
    public void free(long address) {
      enter();
      check("cuMemFree", JCudaDriver.cuMemFree(new DeviceAddress(address)));
    }

    @Override
    public String state() {
      enter();
      long[] free = new long[1];
      long[] all = new long[1];
      check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(free, all));
      return "%d of %d are free".formatted(free[0], all[0]);
    }
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
    // An array of Java's would keep some garbage collectors waiting while the driver compiles.
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    return Pointer.to(ByteBuffer.allocateDirect(bytes.length + 1).put(bytes).rewind());
  }

  @Override
  public void copyIn(long address, MemorySegment from) {
    enter();
    for (long at = 0; at < from.byteSize(); at += LARGEST_COPY) {
      long bytes = Math.min(LARGEST_COPY, from.byteSize() - at);
      Pointer host = Pointer.to(from.asSlice(at, bytes).asByteBuffer());
      check(
          "cuMemcpyHtoDAsync",
          JCudaDriver.cuMemcpyHtoDAsync(new DeviceAddress(address + at), host, bytes, stream));
    }
  }

  @Override
  public void copyOut(MemorySegment to, long address, Event after) {
    enter();
    check("cuStreamWaitEvent", JCudaDriver.cuStreamWaitEvent(copies, ((Recorded) after).event, 0));
    for (long at = 0; at < to.byteSize(); at += LARGEST_COPY) {
      long bytes = Math.min(LARGEST_COPY, to.byteSize() - at);
      Pointer host = Pointer.to(to.asSlice(at, bytes).asByteBuffer());
      check(
          "cuMemcpyDtoHAsync",
          JCudaDriver.cuMemcpyDtoHAsync(host, new DeviceAddress(address + at), bytes, copies));
    }
  }

  @Override
  public void awaitCopies() {
    enter();
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(copies));
  }

  @Override
  public void await() {
    enter();
    check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
  }

  @Override
  public Event event() {
    enter();
    return new Recorded();
  }

  /** An event of the driver's on the stream of all runs. */
  private final class Recorded implements Event {
    private final CUevent event = new CUevent();

    Recorded() {
      check(
          "cuEventCreate", JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING));
    }

    @Override
    public void record() {
      enter();
      check("cuEventRecord", JCudaDriver.cuEventRecord(event, stream));
    }

    @Override
    public void close() {
      enter();
      check("cuEventDestroy", JCudaDriver.cuEventDestroy(event));
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
      // A stream of its own, so that what others do meanwhile is not captured too.
      JcudaStream recorder = new JcudaStream();
      List<LibraryPlan> plans = new ArrayList<>();
      try {
        List<Runnable> launches = new ArrayList<>();
        for (Call call : calls) {
          launches.add(
              switch (call.task()) {
                case Launch launch -> kernel(launch, call.addresses(), recorder);
                case Task.Multiplication product -> {
                  plans.add(libraries.plan(product.gemm(), ALIGNMENT));
                  yield planned(plans.getLast(), call.addresses(), recorder);
                }
                case Task.Convolution convolution -> {
                  plans.add(libraries.plan(convolution.correlation()));
                  yield planned(plans.getLast(), call.addresses(), recorder);
                }
              });
        }
        return new Captured(capture(recorder, launches));
      } finally {
        plans.forEach(LibraryPlan::close);
        check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(recorder));
      }
    }

    /**
     * Computed once at once: what the library loads for it cannot be loaded while it is captured.
     * On the stream of all runs, as the workspace is theirs too.
     */
    private Runnable planned(LibraryPlan plan, List<Long> at, JcudaStream recorder) {
      long workspace = libraries.workspace();
      plan.run(at.get(0), at.get(1), at.get(2), workspace, stream.handle());
      await();
      return () -> plan.run(at.get(0), at.get(1), at.get(2), workspace, recorder.handle());
    }

    private Runnable kernel(Launch launch, List<Long> addresses, JcudaStream recorder) {
      CUfunction function = new CUfunction();
      check(
          "cuModuleGetFunction", JCudaDriver.cuModuleGetFunction(function, module, launch.name()));
      return () -> launch(function, launch, addresses, recorder);
    }

    private static CUgraphExec capture(CUstream recorder, List<Runnable> launches) {
      check(
          "cuStreamBeginCapture",
          JCudaDriver.cuStreamBeginCapture(
              recorder, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
      CUgraph graph = new CUgraph();
      RuntimeException failed = null;
      try {
        launches.forEach(Runnable::run);
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

    private static void launch(
        CUfunction function, Launch launch, List<Long> addresses, CUstream stream) {
      NativePointerObject[] arguments =
          addresses.stream()
              .map(address -> Pointer.to(new DeviceAddress(address)))
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
