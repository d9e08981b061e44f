package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kastor.engine.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's library of convolutions, version 9, by its legacy API (cuDNN documentation, "API
 * Reference", cudnn_ops and cudnn_cnn). Images have their channels last, filters are {@code [o, kh,
 * kw, c]}.
 *
 * <p>An algorithm is taken only if it is deterministic, so that the same bits come out in every
 * run. Tensors are in single precision: the library has no way to round them to bfloat16, so that
 * {@link Precision#BF16} is computed as {@link Precision#TF32}.
 *
 * <p>Its context is the one that is current when it is opened; it lives as long as that. Threads
 * may share it.
 */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
final class Cudnn {
  private static final int SUCCESS = 0;

  /** 9.1.0 is 90100; before version 9, 8.9.7 was 8907. */
  private static final long OLDEST_VERSION = 90_000;

  // cudnnDataType_t, cudnnTensorFormat_t, cudnnConvolutionMode_t, cudnnMathType_t
  private static final int FLOAT = 0;
  private static final int NHWC = 1;
  private static final int CROSS_CORRELATION = 1;
  private static final int TENSOR_OP_MATH = 1;
  private static final int FMA_MATH = 3;

  /** More than any direction has: 8 (CUDNN_CONVOLUTION_FWD_ALGO_COUNT), 6 and 7. */
  private static final int MOST_ALGORITHMS = 16;

  // cudnnConvolutionFwdAlgoPerf_t and its likes: algorithm, status, milliseconds, bytes, whether
  // it is deterministic, type of mathematics, three that are reserved.
  private static final long PERFORMANCE_BYTES = 48;
  private static final long STATUS_OFFSET = 4;
  private static final long MEMORY_OFFSET = 16;
  private static final long DETERMINISM_OFFSET = 24;
  private static final long MATH_OFFSET = 28;
  private static final int DETERMINISTIC = 1;

  private final CudnnFunctions functions;
  private final MemorySegment handle;
  private final String name;

  private Cudnn(NativeLibrary library) {
    functions = CudnnFunctions.of(library);
    long version = version(functions.version());
    if (version < OLDEST_VERSION) {
      throw new IllegalStateException(
          "%s is %s, and 9.0 is needed.".formatted(library.name(), named(version)));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment created = arena.allocate(ADDRESS);
      check("cudnnCreate", () -> (int) functions.create().invokeExact(created));
      handle = created.get(ADDRESS, 0);
    }
    name = "%s (%s)".formatted(named(version), library.name());
  }

  private static long version(MethodHandle of) {
    long[] version = new long[1];
    NativeCall.status(() -> {
      version[0] = (long) of.invokeExact();
      return SUCCESS;
    });
    return version[0];
  }

  private static String named(long version) {
    return version < OLDEST_VERSION
        ? "cuDNN %d.%d.%d".formatted(version / 1000, version / 100 % 10, version % 100)
        : "cuDNN %d.%d.%d".formatted(version / 10_000, version / 100 % 100, version % 100);
  }

  /** For people: the version and file of a library, or why it is of no use. Needs no GPU. */
  static String describe(NativeLibrary library) {
    try {
      MethodHandle version = CudnnFunctions.of(library).version();
      return "%s (%s)".formatted(named(version(version)), library.name());
    } catch (IllegalStateException e) {
      return "%s (of no use: %s)".formatted(library.name(), e.getMessage());
    }
  }

  /** Looks for the library; null if this machine has none. */
  static @Nullable NativeLibrary find() {
    return NativeLibrary.find(NativeLibrary.names("libcudnn", 9));
  }

  /**
   * Opens the library for the current context.
   *
   * @throws IllegalStateException if it refuses, is too old, or is none
   */
  static Cudnn open(NativeLibrary library) {
    return new Cudnn(library);
  }

  /** For people: version and file. */
  String name() {
    return name;
  }

  /**
   * Prepares a convolution.
   *
   * @param workspaceBytes that it may use
   * @throws IllegalStateException if the library has nothing for it
   */
  LibraryPlan plan(Correlation correlation, Precision precision, long workspaceBytes) {
    Plan plan = new Plan(correlation, workspaceBytes);
    try {
      plan.prepare(precision);
      return plan;
    } catch (RuntimeException | Error e) {
      plan.close();
      throw e;
    }
  }

  /** For a GPU that is not used after all. */
  void close() {
    check("cudnnDestroy", () -> (int) functions.destroy().invokeExact(handle));
  }

  private void check(String called, NativeCall call) {
    int status = NativeCall.status(call);
    if (status != SUCCESS) {
      throw new IllegalStateException(
          "%s says %s.".formatted(called, NativeCall.text(functions.errorString(), status)));
    }
  }

  private final class Plan implements LibraryPlan {
    private final Arena arena = Arena.ofShared();
    private final Deque<Runnable> destroyed = new ArrayDeque<>();
    private final Correlation correlation;
    private final CudnnFunctions.Direction direction;
    private final long workspaceBytes;
    private MemorySegment convolution = MemorySegment.NULL;
    private MemorySegment first = MemorySegment.NULL;
    private MemorySegment second = MemorySegment.NULL;
    private MemorySegment result = MemorySegment.NULL;
    private int algorithm;

    Plan(Correlation correlation, long workspaceBytes) {
      this.correlation = correlation;
      this.workspaceBytes = workspaceBytes;
      direction = functions.direction(correlation.wanted());
    }

    private void prepare(Precision precision) {
      MemorySegment image = tensor(correlation.image());
      MemorySegment filter = filter(correlation.filter());
      MemorySegment results = tensor(correlation.result());
      first = correlation.wanted() == Correlation.Wanted.IMAGE ? filter : image;
      second = correlation.wanted() == Correlation.Wanted.RESULT ? filter : results;
      result =
          switch (correlation.wanted()) {
            case RESULT -> results;
            case IMAGE -> image;
            case FILTER -> filter;
          };
      convolution = convolution();
      // By default the library would round operands to TF32 too, which nobody asked for.
      int math =
          switch (precision) {
            case FP32 -> FMA_MATH;
            case TF32, BF16 -> TENSOR_OP_MATH;
          };
      setMath(math);
      MemorySegment chosen = choose();
      algorithm = chosen.get(JAVA_INT, 0);
      if (math != FMA_MATH) {
        // Each algorithm goes with the mathematics that it was found for.
        setMath(chosen.get(JAVA_INT, MATH_OFFSET));
      }
    }

    private MemorySegment tensor(Shape shape) {
      MemorySegment tensor = create("cudnnCreateTensorDescriptor", functions.tensor());
      MethodHandle set = functions.tensor().set();
      int n = shape.extent(0);
      int h = shape.extent(1);
      int w = shape.extent(2);
      int c = shape.extent(3);
      check(
          "cudnnSetTensor4dDescriptor",
          () -> (int) set.invokeExact(tensor, NHWC, FLOAT, n, c, h, w));
      return tensor;
    }

    private MemorySegment filter(Shape shape) {
      MemorySegment filter = create("cudnnCreateFilterDescriptor", functions.filter());
      MethodHandle set = functions.filter().set();
      int outputs = shape.extent(0);
      int h = shape.extent(1);
      int w = shape.extent(2);
      int c = shape.extent(3);
      check(
          "cudnnSetFilter4dDescriptor",
          () -> (int) set.invokeExact(filter, FLOAT, NHWC, outputs, c, h, w));
      return filter;
    }

    private MemorySegment convolution() {
      MemorySegment made = create("cudnnCreateConvolutionDescriptor", functions.convolution());
      MethodHandle set = functions.convolution().set();
      int padding = correlation.padding();
      int stride = correlation.stride();
      check(
          "cudnnSetConvolution2dDescriptor",
          () ->
              (int)
                  set.invokeExact(
                      made, padding, padding, stride, stride, 1, 1, CROSS_CORRELATION, FLOAT));
      return made;
    }

    private void setMath(int type) {
      check(
          "cudnnSetConvolutionMathType",
          () -> (int) functions.setMathType().invokeExact(convolution, type));
    }

    /** A new descriptor, which goes when this is closed. */
    private MemorySegment create(String called, CudnnFunctions.Descriptor kind) {
      MemorySegment created = arena.allocate(ADDRESS);
      check(called, () -> (int) kind.create().invokeExact(created));
      MemorySegment object = created.get(ADDRESS, 0);
      destroyed.push(
          () -> check("A cudnn destructor", () -> (int) kind.destroy().invokeExact(object)));
      return object;
    }

    /** The first that will do: the library tells of the fastest first. */
    private MemorySegment choose() {
      MemorySegment found =
          arena.allocate(MOST_ALGORITHMS * PERFORMANCE_BYTES, JAVA_LONG.byteAlignment());
      MemorySegment count = arena.allocate(JAVA_INT);
      check(
          "The choice of algorithms of %s for %s".formatted(direction.name(), correlation),
          () ->
              (int)
                  direction
                      .algorithms()
                      .invokeExact(
                          handle,
                          first,
                          second,
                          convolution,
                          result,
                          MOST_ALGORITHMS,
                          count,
                          found));
      for (int i = 0; i < count.get(JAVA_INT, 0); i++) {
        MemorySegment each = found.asSlice(i * PERFORMANCE_BYTES, PERFORMANCE_BYTES);
        if (each.get(JAVA_INT, STATUS_OFFSET) == SUCCESS
            && each.get(JAVA_INT, DETERMINISM_OFFSET) == DETERMINISTIC
            && Long.compareUnsigned(each.get(JAVA_LONG, MEMORY_OFFSET), workspaceBytes) <= 0) {
          return each;
        }
      }
      throw new IllegalStateException(
          "%s has no deterministic algorithm within %d bytes for %s."
              .formatted(name, workspaceBytes, correlation));
    }

    @Override
    public void run(long one, long other, long to, long workspace, long stream) {
      try (Arena call = Arena.ofConfined()) {
        MemorySegment all = call.allocateFrom(JAVA_FLOAT, 1);
        MemorySegment none = call.allocateFrom(JAVA_FLOAT, 0);
        // A handle has one stream at a time.
        synchronized (Cudnn.this) {
          check("cudnnSetStream", () -> (int) functions.setStream().invokeExact(handle, stream));
          check(
              direction.name() + " for " + correlation,
              () ->
                  (int)
                      direction
                          .compute()
                          .invokeExact(
                              handle,
                              all,
                              first,
                              one,
                              second,
                              other,
                              convolution,
                              algorithm,
                              workspace,
                              workspaceBytes,
                              none,
                              result,
                              to));
        }
      }
    }

    @Override
    public void close() {
      try (arena) {
        while (!destroyed.isEmpty()) {
          destroyed.pop().run();
        }
      }
    }
  }
}
