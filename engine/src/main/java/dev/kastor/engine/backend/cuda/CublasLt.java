package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's library of matrix products, as far as products of dense matrices need it (cuBLAS
 * documentation, "Using the cuBLASLt API", versions 12 and 13, whose functions are the same).
 *
 * <p>It knows matrices in column-major order, in which a row-major matrix is its own transpose. So
 * it computes the transpose of the result: from the right side times the left one.
 *
 * <p>Its context is the one that is current when it is opened. Never closed, as that is not.
 */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
final class CublasLt {
  private static final int SUCCESS = 0;

  // cudaDataType, cublasComputeType_t, cublasOperation_t
  private static final int REAL_32 = 0;
  private static final int COMPUTE_32 = 68;
  private static final int COMPUTE_32_FAST_16BF = 75;
  private static final int COMPUTE_32_FAST_TF32 = 77;
  private static final int TRANSPOSED = 1;

  // cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
  // cublasLtMatmulPreferenceAttributes_t
  private static final int TRANSPOSE_FIRST = 3;
  private static final int TRANSPOSE_SECOND = 4;
  private static final int BATCH_COUNT = 5;
  private static final int BATCH_OFFSET = 6;
  private static final int WORKSPACE_BYTES = 1;
  private static final int[] ALIGNMENTS = {5, 6, 7, 8};

  /** Of a cublasLtMatmulHeuristicResult_t, which begins with the algorithm. */
  private static final long HEURISTIC_BYTES = 96;

  private static final long WORKSPACE_OFFSET = 64;
  private static final long STATE_OFFSET = 72;

  private final Functions functions;
  private final MemorySegment handle;
  private final String name;

  /** The functions of the library. */
  private record Functions(
      MethodHandle version,
      MethodHandle create,
      MethodHandle createOperation,
      MethodHandle setOperation,
      MethodHandle destroyOperation,
      MethodHandle createLayout,
      MethodHandle setLayout,
      MethodHandle destroyLayout,
      MethodHandle createPreference,
      MethodHandle setPreference,
      MethodHandle destroyPreference,
      MethodHandle chooseAlgorithm,
      MethodHandle multiply) {
    static Functions of(NativeLibrary library) {
      MemoryLayout[] attribute = {ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG};
      MethodHandle version =
          library.function("cublasLtGetVersion", FunctionDescriptor.of(JAVA_LONG));
      return new Functions(
          version,
          library.function("cublasLtCreate", ADDRESS),
          library.function("cublasLtMatmulDescCreate", ADDRESS, JAVA_INT, JAVA_INT),
          library.function("cublasLtMatmulDescSetAttribute", attribute),
          library.function("cublasLtMatmulDescDestroy", ADDRESS),
          library.function(
              "cublasLtMatrixLayoutCreate", ADDRESS, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG),
          library.function("cublasLtMatrixLayoutSetAttribute", attribute),
          library.function("cublasLtMatrixLayoutDestroy", ADDRESS),
          library.function("cublasLtMatmulPreferenceCreate", ADDRESS),
          library.function("cublasLtMatmulPreferenceSetAttribute", attribute),
          library.function("cublasLtMatmulPreferenceDestroy", ADDRESS),
          library.function(
              "cublasLtMatmulAlgoGetHeuristic",
              ADDRESS,
              ADDRESS,
              ADDRESS,
              ADDRESS,
              ADDRESS,
              ADDRESS,
              ADDRESS,
              JAVA_INT,
              ADDRESS,
              ADDRESS),
          library.function(
              "cublasLtMatmul",
              ADDRESS,
              ADDRESS,
              ADDRESS,
              JAVA_LONG,
              ADDRESS,
              JAVA_LONG,
              ADDRESS,
              ADDRESS,
              JAVA_LONG,
              ADDRESS,
              JAVA_LONG,
              ADDRESS,
              ADDRESS,
              JAVA_LONG,
              JAVA_LONG,
              JAVA_LONG));
    }
  }

  private CublasLt(NativeLibrary library) {
    functions = Functions.of(library);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment created = arena.allocate(ADDRESS);
      check("cublasLtCreate", () -> (int) functions.create.invokeExact(created));
      handle = created.get(ADDRESS, 0);
      long version = (long) functions.version.invokeExact();
      // 120805 is 12.8.5.
      name = "cuBLASLt %d.%d (%s)".formatted(version / 10_000, version / 100 % 100, library.name());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Looks for the library; null if this machine has none. */
  static @Nullable NativeLibrary find() {
    return NativeLibrary.find(NativeLibrary.names("libcublasLt", 13, 12));
  }

  /**
   * Opens the library for the current context.
   *
   * @throws IllegalStateException if it refuses, or is none
   */
  static CublasLt open(NativeLibrary library) {
    return new CublasLt(library);
  }

  /** For people: version and file. */
  String name() {
    return name;
  }

  /**
   * Prepares a product.
   *
   * @param workspaceBytes that it may use
   * @param alignment of all addresses, in bytes
   * @throws IllegalStateException if the library has nothing for it
   */
  LibraryPlan plan(Gemm gemm, Precision precision, long workspaceBytes, int alignment) {
    Plan plan = new Plan(gemm);
    try {
      plan.prepare(precision, workspaceBytes, alignment);
      return plan;
    } catch (RuntimeException | Error e) {
      plan.close();
      throw e;
    }
  }

  private static void check(String name, NativeCall call) {
    int status = NativeCall.status(call);
    if (status != SUCCESS) {
      throw new IllegalStateException("%s says cublasStatus_t %d.".formatted(name, status));
    }
  }

  /** A product that can be computed again and again. */
  private final class Plan implements LibraryPlan {
    private final Arena arena = Arena.ofShared();
    private final Deque<Runnable> destroyed = new ArrayDeque<>();
    private final Gemm gemm;
    private MemorySegment operation = MemorySegment.NULL;
    private MemorySegment first = MemorySegment.NULL;
    private MemorySegment second = MemorySegment.NULL;
    private MemorySegment result = MemorySegment.NULL;
    private MemorySegment chosen = MemorySegment.NULL;

    private Plan(Gemm gemm) {
      this.gemm = gemm;
    }

    private void prepare(Precision precision, long workspaceBytes, int alignment) {
      int compute =
          switch (precision) {
            case FP32 -> COMPUTE_32;
            case TF32 -> COMPUTE_32_FAST_TF32;
            case BF16 -> COMPUTE_32_FAST_16BF;
          };
      MemorySegment created = arena.allocate(ADDRESS);
      check(
          "cublasLtMatmulDescCreate",
          () -> (int) functions.createOperation.invokeExact(created, compute, REAL_32));
      operation = own(created, functions.destroyOperation);
      transpose(TRANSPOSE_FIRST, gemm.transposeRight());
      transpose(TRANSPOSE_SECOND, gemm.transposeLeft());
      Product.Size size = gemm.size();
      first = side(size.columns(), size.depth(), gemm.transposeRight());
      second = side(size.depth(), size.rows(), gemm.transposeLeft());
      result = side(/* rows= */ size.columns(), /* columns= */ size.rows(), false);
      choose(workspaceBytes, alignment);
    }

    /** A new object's handle, which goes when this is closed. */
    private MemorySegment own(MemorySegment created, MethodHandle destroy) {
      MemorySegment object = created.get(ADDRESS, 0);
      destroyed.push(() -> check("A cublasLt destructor", () -> (int) destroy.invokeExact(object)));
      return object;
    }

    private void transpose(int attribute, boolean transposed) {
      if (transposed) {
        MemorySegment value = arena.allocateFrom(JAVA_INT, TRANSPOSED);
        set("cublasLtMatmulDescSetAttribute", functions.setOperation, operation, attribute, value);
      }
    }

    /** A matrix in column-major order, before it is transposed. */
    private MemorySegment side(int rows, int columns, boolean transposed) {
      long lying = transposed ? columns : rows;
      long lines = transposed ? rows : columns;
      MemorySegment created = arena.allocate(ADDRESS);
      check(
          "cublasLtMatrixLayoutCreate",
          () -> (int) functions.createLayout.invokeExact(created, REAL_32, lying, lines, lying));
      MemorySegment layout = own(created, functions.destroyLayout);
      if (gemm.size().batch() > 1) {
        String name = "cublasLtMatrixLayoutSetAttribute";
        MemorySegment count = arena.allocateFrom(JAVA_INT, gemm.size().batch());
        set(name, functions.setLayout, layout, BATCH_COUNT, count);
        MemorySegment offset = arena.allocateFrom(JAVA_LONG, (long) rows * columns);
        set(name, functions.setLayout, layout, BATCH_OFFSET, offset);
      }
      return layout;
    }

    private static void set(
        String name, MethodHandle set, MemorySegment object, int attribute, MemorySegment value) {
      check(name, () -> (int) set.invokeExact(object, attribute, value, value.byteSize()));
    }

    private void choose(long workspaceBytes, int alignment) {
      MemorySegment created = arena.allocate(ADDRESS);
      check(
          "cublasLtMatmulPreferenceCreate",
          () -> (int) functions.createPreference.invokeExact(created));
      MemorySegment preference = own(created, functions.destroyPreference);
      String name = "cublasLtMatmulPreferenceSetAttribute";
      MemorySegment bytes = arena.allocateFrom(JAVA_LONG, workspaceBytes);
      set(name, functions.setPreference, preference, WORKSPACE_BYTES, bytes);
      MemorySegment aligned = arena.allocateFrom(JAVA_INT, alignment);
      for (int attribute : ALIGNMENTS) {
        set(name, functions.setPreference, preference, attribute, aligned);
      }
      chosen = arena.allocate(HEURISTIC_BYTES, JAVA_LONG.byteAlignment());
      MemorySegment count = arena.allocate(JAVA_INT);
      check(
          "cublasLtMatmulAlgoGetHeuristic for " + gemm,
          () ->
              (int)
                  functions.chooseAlgorithm.invokeExact(
                      handle,
                      operation,
                      first,
                      second,
                      result,
                      result,
                      preference,
                      1,
                      chosen,
                      count));
      if (count.get(JAVA_INT, 0) == 0 || chosen.get(JAVA_INT, STATE_OFFSET) != SUCCESS) {
        throw new IllegalStateException(name() + " has no algorithm for " + gemm + ".");
      }
    }

    @Override
    public void run(long left, long right, long to, long workspace, long stream) {
      try (Arena call = Arena.ofConfined()) {
        MemorySegment one = call.allocateFrom(JAVA_FLOAT, 1);
        MemorySegment zero = call.allocateFrom(JAVA_FLOAT, 0);
        long bytes = chosen.get(JAVA_LONG, WORKSPACE_OFFSET);
        check(
            "cublasLtMatmul for " + gemm,
            () ->
                (int)
                    functions.multiply.invokeExact(
                        handle, operation, one, right, first, left, second, zero, to, result, to,
                        result, chosen, workspace, bytes, stream));
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
