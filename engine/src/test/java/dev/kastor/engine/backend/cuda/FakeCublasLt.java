package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Map;

/**
 * cuBLASLt as far as we call it: functions of Java's that native code can call, over the memory and
 * streams of a {@link FakeDriver}. It takes matrices as NVIDIA documents them, in column-major
 * order with leading dimensions, and is as strict: handles and attributes must exist, and shapes
 * must agree.
 */
@SuppressWarnings({"restricted", "UnusedMethod", "UnusedVariable"}) // Called by native code.
final class FakeCublasLt {
  private static final int SUCCESS = 0;
  private static final int INVALID_VALUE = 7;
  private static final int NOT_SUPPORTED = 15;
  private static final long VERSION = 120_805;
  private static final long HANDLE = 0xB1A5;
  private static final long NEEDED_BYTES = 256;
  private static final int ALGORITHM = 4711;

  /** How exactly the last product was to be computed. */
  int computeType;

  /** Whether it has an algorithm for anything. */
  boolean hasAlgorithms = true;

  private final FakeDriver driver;

  /** The attributes of descriptors by their numbers. */
  private final Map<Long, long[]> objects = new HashMap<>();

  private long nextObject = 0x7000;

  FakeCublasLt(FakeDriver driver) {
    this.driver = driver;
  }

  /** As a library that was found. */
  NativeLibrary library() {
    return FakeLibrary.of(
        this, MethodHandles.lookup()::unreflect, "libcublasLt.so.12", "cublasLt", "");
  }

  /** Descriptors that nobody destroyed. */
  int alive() {
    return objects.size();
  }

  private long cublasLtGetVersion() {
    return VERSION;
  }

  private int cublasLtCreate(MemorySegment handle) {
    handle.reinterpret(8).set(JAVA_LONG, 0, HANDLE);
    return SUCCESS;
  }

  private int created(MemorySegment at, long... attributes) {
    long object = nextObject;
    nextObject += 16;
    objects.put(object, attributes);
    at.reinterpret(8).set(JAVA_LONG, 0, object);
    return SUCCESS;
  }

  private int destroyed(MemorySegment object) {
    return objects.remove(object.address()) == null ? INVALID_VALUE : SUCCESS;
  }

  private int set(MemorySegment object, int attribute, MemorySegment value, long bytes) {
    long[] attributes = objects.get(object.address());
    if (attributes == null || attribute >= attributes.length) {
      return INVALID_VALUE;
    }
    MemorySegment read = value.reinterpret(bytes);
    attributes[attribute] = bytes == 4 ? read.get(JAVA_INT, 0) : read.get(JAVA_LONG, 0);
    return SUCCESS;
  }

  private int cublasLtMatmulDescCreate(MemorySegment at, int compute, int scale) {
    computeType = compute;
    return created(at, compute, scale, 0, 0, 0);
  }

  private int cublasLtMatmulDescSetAttribute(
      MemorySegment object, int attribute, MemorySegment value, long bytes) {
    return attribute == 3 || attribute == 4 ? set(object, attribute, value, bytes) : INVALID_VALUE;
  }

  private int cublasLtMatmulDescDestroy(MemorySegment object) {
    return destroyed(object);
  }

  private int cublasLtMatrixLayoutCreate(
      MemorySegment at, int type, long rows, long columns, long leading) {
    return leading < rows ? INVALID_VALUE : created(at, type, 0, rows, columns, leading, 1, 0);
  }

  private int cublasLtMatrixLayoutSetAttribute(
      MemorySegment object, int attribute, MemorySegment value, long bytes) {
    boolean known = (attribute == 5 && bytes == 4) || (attribute == 6 && bytes == 8);
    return known ? set(object, attribute, value, bytes) : INVALID_VALUE;
  }

  private int cublasLtMatrixLayoutDestroy(MemorySegment object) {
    return destroyed(object);
  }

  private int cublasLtMatmulPreferenceCreate(MemorySegment at) {
    return created(at, 0, 0, 0, 0, 0, 256, 256, 256, 256);
  }

  private int cublasLtMatmulPreferenceSetAttribute(
      MemorySegment object, int attribute, MemorySegment value, long bytes) {
    boolean known = (attribute == 1 && bytes == 8) || (attribute >= 5 && bytes == 4);
    return known ? set(object, attribute, value, bytes) : INVALID_VALUE;
  }

  private int cublasLtMatmulPreferenceDestroy(MemorySegment object) {
    return destroyed(object);
  }

  private int cublasLtMatmulAlgoGetHeuristic(
      MemorySegment handle,
      MemorySegment operation,
      MemorySegment first,
      MemorySegment second,
      MemorySegment third,
      MemorySegment result,
      MemorySegment preference,
      int most,
      MemorySegment results,
      MemorySegment count) {
    long[] wanted = objects.get(preference.address());
    if (handle.address() != HANDLE || most != 1 || wanted == null) {
      return INVALID_VALUE;
    }
    for (int i = 5; i < wanted.length; i++) {
      if (wanted[i] != Tensor.ALIGNMENT) {
        return INVALID_VALUE;
      }
    }
    if (wanted[1] < NEEDED_BYTES || !hasAlgorithms) {
      count.reinterpret(4).set(JAVA_INT, 0, 0);
      return hasAlgorithms ? SUCCESS : NOT_SUPPORTED;
    }
    MemorySegment chosen = results.reinterpret(96);
    chosen.set(JAVA_INT, 0, ALGORITHM);
    chosen.set(JAVA_LONG, 64, NEEDED_BYTES);
    chosen.set(JAVA_INT, 72, SUCCESS);
    count.reinterpret(4).set(JAVA_INT, 0, 1);
    return SUCCESS;
  }

  private int cublasLtMatmul(
      MemorySegment handle,
      MemorySegment operation,
      MemorySegment alpha,
      long first,
      MemorySegment firstLayout,
      long second,
      MemorySegment secondLayout,
      MemorySegment beta,
      long third,
      MemorySegment thirdLayout,
      long result,
      MemorySegment resultLayout,
      MemorySegment algorithm,
      long workspace,
      long workspaceBytes,
      long stream) {
    long[] op = objects.get(operation.address());
    long[] a = objects.get(firstLayout.address());
    long[] b = objects.get(secondLayout.address());
    long[] c = objects.get(resultLayout.address());
    boolean scaled =
        alpha.reinterpret(4).get(JAVA_FLOAT, 0) == 1 && beta.reinterpret(4).get(JAVA_FLOAT, 0) == 0;
    if (handle.address() != HANDLE
        || op == null
        || a == null
        || b == null
        || c == null
        || !scaled
        || workspaceBytes < NEEDED_BYTES
        || (first | second | result) % Tensor.ALIGNMENT != 0
        || algorithm.reinterpret(96).get(JAVA_INT, 0) != ALGORITHM) {
      return INVALID_VALUE;
    }
    boolean turnA = op[3] == 1;
    boolean turnB = op[4] == 1;
    long rows = a[turnA ? 3 : 2];
    long depth = a[turnA ? 2 : 3];
    long columns = b[turnB ? 2 : 3];
    if (b[turnB ? 3 : 2] != depth || c[2] != rows || c[3] != columns) {
      return INVALID_VALUE;
    }
    driver.at(workspace, Math.toIntExact(workspaceBytes)).fill((byte) 0x7f);
    return driver.enqueue(
        stream,
        () -> {
          for (long batch = 0; batch < c[5]; batch++) {
            for (long row = 0; row < rows; row++) {
              for (long column = 0; column < columns; column++) {
                double sum = 0;
                for (long k = 0; k < depth; k++) {
                  sum +=
                      (double) element(first, a, batch, turnA ? k : row, turnA ? row : k)
                          * element(second, b, batch, turnB ? column : k, turnB ? k : column);
                }
                driver
                    .at(address(result, c, batch, row, column), 4)
                    .set(JAVA_FLOAT, 0, (float) sum);
              }
            }
          }
        });
  }

  private float element(long base, long[] layout, long batch, long row, long column) {
    return driver.at(address(base, layout, batch, row, column), 4).get(JAVA_FLOAT, 0);
  }

  private static long address(long base, long[] layout, long batch, long row, long column) {
    return base + 4 * (batch * layout[6] + column * layout[4] + row);
  }
}
