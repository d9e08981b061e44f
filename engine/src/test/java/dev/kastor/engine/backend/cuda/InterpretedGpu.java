package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kastor.engine.backend.Backend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A GPU that is none: its memory is the machine's, and its kernels are interpreted. */
public final class InterpretedGpu implements Gpu, Interpreter.Memory {
  private final NavigableMap<Long, Allocation> allocations = new TreeMap<>();
  private final Consumer<String> loaded;

  private record Allocation(MemorySegment segment, Arena arena) {}

  private final boolean library;
  private long bytesIn;
  private long bytesOut;

  private InterpretedGpu(Consumer<String> loaded, boolean library) {
    this.loaded = loaded;
    this.library = library;
  }

  /** One without libraries, whose copies can be counted. */
  public static InterpretedGpu open() {
    return new InterpretedGpu(_ -> {}, false);
  }

  /** The backend on this one. */
  public Backend asBackend() {
    return new CudaBackend(this);
  }

  /** Bytes that were copied to it. */
  public long bytesIn() {
    return bytesIn;
  }

  /** Bytes that were copied from it. */
  public long bytesOut() {
    return bytesOut;
  }

  /** Blocks of memory that nobody has given back. */
  public int blocks() {
    return allocations.size();
  }

  /** The backend on such a GPU. */
  public static Backend backend() {
    return backend(_ -> {});
  }

  /** The same where somebody sees the text of all kernels. */
  public static Backend backend(Consumer<String> loaded) {
    return new CudaBackend(new InterpretedGpu(loaded, false));
  }

  /** The backend on such a GPU with libraries of products and convolutions. */
  public static Backend withLibrary() {
    return new CudaBackend(new InterpretedGpu(_ -> {}, true));
  }

  @Override
  public String name() {
    return "interpreter";
  }

  @Override
  public boolean multiplies() {
    return library;
  }

  @Override
  public boolean convolves(Correlation correlation) {
    return library;
  }

  @Override
  public long allocate(long bytes) {
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(bytes, 256);
    // What was never written must not pass for 0.
    segment.fill((byte) 0x7f);
    allocations.put(segment.address(), new Allocation(segment, arena));
    return segment.address();
  }

  @Override
  public void free(long address) {
    Allocation found = allocations.remove(address);
    if (found == null) {
      throw new IllegalArgumentException("Nothing is allocated at " + address);
    }
    found.arena.close();
  }

  @Override
  public MemorySegment at(long address, int bytes) {
    var entry = allocations.floorEntry(address);
    if (entry == null || address + bytes > entry.getKey() + entry.getValue().segment.byteSize()) {
      throw new IndexOutOfBoundsException("Nothing is allocated at " + address);
    }
    return entry.getValue().segment.asSlice(address - entry.getKey(), bytes);
  }

  @Override
  public Module load(String ptx) {
    loaded.accept(ptx);
    return new Interpreted(Interpreter.read(ptx));
  }

  @Override
  public void copyIn(long address, MemorySegment from) {
    bytesIn += from.byteSize();
    at(address, Math.toIntExact(from.byteSize())).copyFrom(from);
  }

  @Override
  public void copyOut(MemorySegment to, long address, Event after) {
    bytesOut += to.byteSize();
    to.copyFrom(at(address, Math.toIntExact(to.byteSize())));
  }

  @Override
  public void awaitCopies() {}

  @Override
  public void await() {}

  /** All is done at once here. */
  @Override
  public Event event() {
    return new Event() {
      @Override
      public void record() {}

      @Override
      public void close() {}
    };
  }

  /** As the definition says: sums in double precision of what lies where the product says. */
  private void multiply(Gemm gemm, long left, long right, long result) {
    Product.Size size = gemm.size();
    int rows = size.rows();
    int columns = size.columns();
    int depth = size.depth();
    MemorySegment a = at(left, 4 * size.batch() * rows * depth);
    MemorySegment b = at(right, 4 * size.batch() * depth * columns);
    MemorySegment c = at(result, 4 * size.elements());
    for (int batch = 0; batch < size.batch(); batch++) {
      for (int row = 0; row < rows; row++) {
        for (int column = 0; column < columns; column++) {
          double sum = 0;
          for (int k = 0; k < depth; k++) {
            int x = gemm.transposeLeft() ? k * rows + row : row * depth + k;
            int y = gemm.transposeRight() ? column * depth + k : k * columns + column;
            sum +=
                (double) a.getAtIndex(JAVA_FLOAT, (long) batch * rows * depth + x)
                    * b.getAtIndex(JAVA_FLOAT, (long) batch * depth * columns + y);
          }
          c.setAtIndex(JAVA_FLOAT, ((long) batch * rows + row) * columns + column, (float) sum);
        }
      }
    }
  }

  private void convolve(Correlation correlation, long first, long second, long result) {
    PlainConvolution plain = PlainConvolution.of(correlation);
    int[] elements = plain.elements(correlation.wanted());
    float[] sums =
        plain.compute(
            correlation.wanted(),
            at(first, 4 * elements[0]).toArray(JAVA_FLOAT),
            at(second, 4 * elements[1]).toArray(JAVA_FLOAT));
    at(result, 4 * elements[2]).copyFrom(MemorySegment.ofArray(sums));
  }

  private final class Interpreted implements Module {
    private final Map<String, Interpreter.Kernel> kernels;

    Interpreted(Map<String, Interpreter.Kernel> kernels) {
      this.kernels = kernels;
    }

    @Override
    public Sequence sequence(List<Call> calls) {
      List<Call> all = new ArrayList<>(calls);
      return new Sequence() {
        @Override
        public void run() {
          for (Call call : all) {
            long[] arguments = call.addresses().stream().mapToLong(Long::longValue).toArray();
            switch (call.task()) {
              case Launch launch ->
                  Interpreter.run(
                      Objects.requireNonNull(kernels.get(launch.name())),
                      launch,
                      arguments,
                      InterpretedGpu.this);
              case Task.Multiplication product ->
                  multiply(product.gemm(), arguments[0], arguments[1], arguments[2]);
              case Task.Convolution convolution ->
                  convolve(convolution.correlation(), arguments[0], arguments[1], arguments[2]);
            }
          }
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public void close() {}
  }
}
