package dev.kastor.engine.backend.cpu;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.bytedeco.dnnl.engine;
import org.bytedeco.dnnl.memory;
import org.bytedeco.dnnl.primitive_attr;
import org.bytedeco.dnnl.stream;
import org.bytedeco.javacpp.Pointer;

/** The oneDNN library with one CPU engine and a bounded number of threads. */
final class OneDnn {
  private final engine device;
  private final stream queue;
  private final MethodHandle setThreads;
  private final int threads;
  private final Team team;

  /**
   * @throws LinkageError if the library is absent or does not fit this machine
   */
  OneDnn(int threads) {
    // JavaCPP refuses allocations once the process exceeds four heaps; our buffers are not its own.
    if (System.getProperty("org.bytedeco.javacpp.maxPhysicalBytes") == null) {
      System.setProperty("org.bytedeco.javacpp.maxPhysicalBytes", "0");
    }
    this.threads = threads;
    this.team = new Team(threads);
    this.device = new engine(org.bytedeco.dnnl.engine.kind.cpu, 0);
    this.setThreads = threadBound();
    boundThreads();
    this.queue = new stream(device);
  }

  @SuppressWarnings("restricted") // The symbol is OpenMP's, which oneDNN has loaded.
  private static MethodHandle threadBound() {
    MemorySegment symbol =
        SymbolLookup.loaderLookup()
            .find("omp_set_num_threads")
            .orElseThrow(() -> new UnsatisfiedLinkError("omp_set_num_threads is missing"));
    return Linker.nativeLinker()
        .downcallHandle(symbol, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT));
  }

  /** Bounds the threads of this thread's kernels: OpenMP keeps the bound per calling thread. */
  void boundThreads() {
    bound(threads);
  }

  /** Runs what the calling thread's primitives are to do without others. */
  void alone(Runnable work) {
    bound(1);
    try {
      work.run();
    } finally {
      bound(threads);
    }
  }

  private void bound(int most) {
    try {
      setThreads.invokeExact(most);
    } catch (Throwable e) { // A method handle declares Throwable; this function throws nothing.
      throw new IllegalStateException("omp_set_num_threads failed", e);
    }
  }

  int threads() {
    return threads;
  }

  /** The same number of threads for loops in Java. */
  Team team() {
    return team;
  }

  engine engine() {
    return device;
  }

  stream stream() {
    return queue;
  }

  /** Attributes of every primitive: the same bits from the same inputs. */
  static primitive_attr deterministic() {
    primitive_attr attributes = new primitive_attr();
    attributes.set_deterministic(true);
    return attributes;
  }

  /** A dense or strided array of 32-bit floats. */
  static memory.desc dense(long[] extents, long[] strides) {
    return new memory.desc(extents, memory.data_type.f32, strides);
  }

  /** An array in whatever layout the primitive likes best. */
  static memory.desc any(long... extents) {
    return new memory.desc(extents, memory.data_type.f32, memory.format_tag.any);
  }

  private static final class Address extends Pointer {
    Address(long address) {
      this.address = address;
    }
  }

  /** A memory object without memory. */
  memory unbound(memory.desc layout) {
    return new memory(layout, device, new Pointer());
  }

  /** Where a segment begins. */
  static Pointer pointer(MemorySegment segment) {
    return new Address(segment.address());
  }
}
