package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * cuDNN as far as we call it: functions of Java's that native code can call, over the memory and
 * streams of a {@link FakeDriver}. It is as strict as NVIDIA documents it: descriptors must exist,
 * be of the right kind, be filled, and agree; filters lie with the outputs first.
 */
@SuppressWarnings({"restricted", "UnusedMethod", "UnusedVariable"}) // Called by native code.
final class FakeCudnn {
  static final long NEEDED_BYTES = 512;

  private static final int SUCCESS = 0;
  private static final int BAD_PARAM = 2000;
  private static final int NOT_SUPPORTED = 3000;
  private static final long HANDLE = 0xD22;
  private static final int ALGORITHM = 4;
  private static final int FMA = 3;

  /** As cudnnGetVersion says it. */
  long version = 90_105;

  /** Whether it has an algorithm for anything. */
  boolean hasAlgorithms = true;

  /** Whether the fitting algorithm is deterministic. */
  boolean deterministic = true;

  /** How the last convolution was to be computed, and how many there were. */
  int mathType;

  int computed;
  String missing = "";

  private final FakeDriver driver;
  private final Arena arena = Arena.global();

  /** The kind of a descriptor, and its numbers once it is filled. */
  private record Descriptor(String kind, List<Integer> numbers) {}

  private final Map<Long, Descriptor> descriptors = new HashMap<>();
  private long nextDescriptor = 0x9000;
  private int handles;
  private long stream;

  FakeCudnn(FakeDriver driver) {
    this.driver = driver;
  }

  /** As a library that was found. */
  NativeLibrary library() {
    return FakeLibrary.of(
        this, MethodHandles.lookup()::unreflect, "libcudnn.so.9", "cudnn", missing);
  }

  /** Descriptors and handles that nobody destroyed. */
  int alive() {
    return descriptors.size() + handles;
  }

  private long cudnnGetVersion() {
    return version;
  }

  private MemorySegment cudnnGetErrorString(int status) {
    return arena.allocateFrom(
        status == BAD_PARAM ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED");
  }

  private int cudnnCreate(MemorySegment at) {
    handles++;
    at.reinterpret(8).set(JAVA_LONG, 0, HANDLE);
    return SUCCESS;
  }

  private int cudnnDestroy(MemorySegment handle) {
    handles--;
    return handle.address() == HANDLE ? SUCCESS : BAD_PARAM;
  }

  private int cudnnSetStream(MemorySegment handle, long to) {
    stream = to;
    return handle.address() == HANDLE ? SUCCESS : BAD_PARAM;
  }

  private int created(MemorySegment at, String kind) {
    long descriptor = nextDescriptor;
    nextDescriptor += 16;
    descriptors.put(descriptor, new Descriptor(kind, List.of()));
    at.reinterpret(8).set(JAVA_LONG, 0, descriptor);
    return SUCCESS;
  }

  private int destroyed(MemorySegment at, String kind) {
    Descriptor descriptor = descriptors.remove(at.address());
    return descriptor != null && descriptor.kind.equals(kind) ? SUCCESS : BAD_PARAM;
  }

  private int filled(MemorySegment at, String kind, int... numbers) {
    Descriptor descriptor = descriptors.get(at.address());
    if (descriptor == null || !descriptor.kind.equals(kind)) {
      return BAD_PARAM;
    }
    descriptors.put(at.address(), new Descriptor(kind, Arrays.stream(numbers).boxed().toList()));
    return SUCCESS;
  }

  private int cudnnCreateTensorDescriptor(MemorySegment at) {
    return created(at, "tensor");
  }

  private int cudnnDestroyTensorDescriptor(MemorySegment at) {
    return destroyed(at, "tensor");
  }

  private int cudnnSetTensor4dDescriptor(
      MemorySegment at, int format, int type, int n, int c, int h, int w) {
    return format == 1 && type == 0 ? filled(at, "tensor", n, c, h, w) : NOT_SUPPORTED;
  }

  private int cudnnCreateFilterDescriptor(MemorySegment at) {
    return created(at, "filter");
  }

  private int cudnnDestroyFilterDescriptor(MemorySegment at) {
    return destroyed(at, "filter");
  }

  private int cudnnSetFilter4dDescriptor(
      MemorySegment at, int type, int format, int k, int c, int h, int w) {
    return format == 1 && type == 0 ? filled(at, "filter", k, c, h, w) : NOT_SUPPORTED;
  }

  private int cudnnCreateConvolutionDescriptor(MemorySegment at) {
    return created(at, "convolution");
  }

  private int cudnnDestroyConvolutionDescriptor(MemorySegment at) {
    return destroyed(at, "convolution");
  }

  private int cudnnSetConvolution2dDescriptor(
      MemorySegment at, int down, int right, int u, int v, int dh, int dw, int mode, int type) {
    boolean known = down == right && u == v && u > 0 && dh == 1 && dw == 1 && mode == 1;
    return known && type == 0 ? filled(at, "convolution", down, u, 0) : BAD_PARAM;
  }

  private int cudnnSetConvolutionMathType(MemorySegment at, int type) {
    Descriptor descriptor = descriptors.get(at.address());
    return descriptor == null || descriptor.numbers.size() != 3 || type < 0 || type > FMA
        ? BAD_PARAM
        : filled(at, "convolution", descriptor.numbers.get(0), descriptor.numbers.get(1), type);
  }

  private int[] numbers(MemorySegment at, String kind) {
    Descriptor descriptor = descriptors.get(at.address());
    if (descriptor == null || !descriptor.kind.equals(kind) || descriptor.numbers.isEmpty()) {
      throw new IllegalArgumentException("No " + kind);
    }
    return descriptor.numbers.stream().mapToInt(Integer::intValue).toArray();
  }

  /** What the descriptors say; the result's extents must be what follows from the others. */
  private PlainConvolution described(
      MemorySegment image, MemorySegment filter, MemorySegment convolution, MemorySegment result) {
    int[] x = numbers(image, "tensor");
    int[] k = numbers(filter, "filter");
    int[] how = numbers(convolution, "convolution");
    int[] y = numbers(result, "tensor");
    int rows = (x[2] + 2 * how[0] - k[2]) / how[1] + 1;
    int columns = (x[3] + 2 * how[0] - k[3]) / how[1] + 1;
    if (x[1] != k[1] || !Arrays.equals(y, new int[] {x[0], k[0], rows, columns})) {
      throw new IllegalArgumentException("They do not agree.");
    }
    return new PlainConvolution(
        x[0], x[2], x[3], x[1], k[0], k[2], k[3], rows, columns, how[1], how[0]);
  }

  private PlainConvolution described(
      Correlation.Wanted wanted,
      MemorySegment first,
      MemorySegment second,
      MemorySegment convolution,
      MemorySegment third) {
    return switch (wanted) {
      case RESULT -> described(first, second, convolution, third);
      case IMAGE -> described(third, first, convolution, second);
      case FILTER -> described(first, third, convolution, second);
    };
  }

  private int algorithms(
      Correlation.Wanted wanted,
      MemorySegment first,
      MemorySegment second,
      MemorySegment convolution,
      MemorySegment third,
      int most,
      MemorySegment count,
      MemorySegment found) {
    if (!hasAlgorithms) {
      return NOT_SUPPORTED;
    }
    int math;
    try {
      described(wanted, first, second, convolution, third);
      math = numbers(convolution, "convolution")[2];
    } catch (IllegalArgumentException e) {
      return BAD_PARAM;
    }
    MemorySegment results = found.reinterpret(48L * most);
    // Too large, not for this, left to chance; then one that will do.
    performance(results.asSlice(0, 48), 0, SUCCESS, Long.MAX_VALUE, 1, math);
    performance(results.asSlice(48, 48), 1, NOT_SUPPORTED, -1, 1, math);
    performance(results.asSlice(96, 48), 2, SUCCESS, 0, 0, math);
    performance(
        results.asSlice(144, 48), ALGORITHM, SUCCESS, NEEDED_BYTES, deterministic ? 1 : 0, math);
    count.reinterpret(4).set(JAVA_INT, 0, 4);
    return SUCCESS;
  }

  private static void performance(
      MemorySegment at, int algorithm, int status, long memory, int determinism, int math) {
    at.set(JAVA_INT, 0, algorithm);
    at.set(JAVA_INT, 4, status);
    at.set(JAVA_FLOAT, 8, 1);
    at.set(JAVA_LONG, 16, memory);
    at.set(JAVA_INT, 24, determinism);
    at.set(JAVA_INT, 28, math);
  }

  private int cudnnGetConvolutionForwardAlgorithm_v7(
      MemorySegment handle,
      MemorySegment x,
      MemorySegment w,
      MemorySegment convolution,
      MemorySegment y,
      int most,
      MemorySegment count,
      MemorySegment found) {
    return algorithms(Correlation.Wanted.RESULT, x, w, convolution, y, most, count, found);
  }

  private int cudnnGetConvolutionBackwardDataAlgorithm_v7(
      MemorySegment handle,
      MemorySegment w,
      MemorySegment dy,
      MemorySegment convolution,
      MemorySegment dx,
      int most,
      MemorySegment count,
      MemorySegment found) {
    return algorithms(Correlation.Wanted.IMAGE, w, dy, convolution, dx, most, count, found);
  }

  private int cudnnGetConvolutionBackwardFilterAlgorithm_v7(
      MemorySegment handle,
      MemorySegment x,
      MemorySegment dy,
      MemorySegment convolution,
      MemorySegment dw,
      int most,
      MemorySegment count,
      MemorySegment found) {
    return algorithms(Correlation.Wanted.FILTER, x, dy, convolution, dw, most, count, found);
  }

  /** What the three functions that compute have in common: two operands and a result. */
  private record Operands(
      MemorySegment firstDescriptor,
      long first,
      MemorySegment secondDescriptor,
      long second,
      MemorySegment resultDescriptor,
      long result) {}

  private int compute(
      Correlation.Wanted wanted,
      MemorySegment handle,
      MemorySegment alpha,
      Operands on,
      MemorySegment convolution,
      int algorithm,
      long workspace,
      long workspaceBytes,
      MemorySegment beta) {
    PlainConvolution plain;
    try {
      plain =
          described(
              wanted, on.firstDescriptor, on.secondDescriptor, convolution, on.resultDescriptor);
      mathType = numbers(convolution, "convolution")[2];
    } catch (IllegalArgumentException e) {
      return BAD_PARAM;
    }
    boolean scaled =
        alpha.reinterpret(4).get(JAVA_FLOAT, 0) == 1 && beta.reinterpret(4).get(JAVA_FLOAT, 0) == 0;
    if (handle.address() != HANDLE
        || !scaled
        || algorithm != ALGORITHM
        || workspaceBytes < NEEDED_BYTES) {
      return BAD_PARAM;
    }
    computed++;
    int[] elements = plain.elements(wanted);
    driver.at(workspace, Math.toIntExact(workspaceBytes)).fill((byte) 0x7f);
    return driver.enqueue(
        stream,
        () -> {
          float[] sums =
              plain.compute(wanted, floats(on.first, elements[0]), floats(on.second, elements[1]));
          driver.at(on.result, 4 * elements[2]).copyFrom(MemorySegment.ofArray(sums));
        });
  }

  private float[] floats(long address, int count) {
    return driver.at(address, 4 * count).toArray(JAVA_FLOAT);
  }

  private int cudnnConvolutionForward(
      MemorySegment handle,
      MemorySegment alpha,
      MemorySegment xDescriptor,
      long x,
      MemorySegment wDescriptor,
      long w,
      MemorySegment convolution,
      int algorithm,
      long workspace,
      long workspaceBytes,
      MemorySegment beta,
      MemorySegment yDescriptor,
      long y) {
    Operands on = new Operands(xDescriptor, x, wDescriptor, w, yDescriptor, y);
    return compute(
        Correlation.Wanted.RESULT,
        handle,
        alpha,
        on,
        convolution,
        algorithm,
        workspace,
        workspaceBytes,
        beta);
  }

  private int cudnnConvolutionBackwardData(
      MemorySegment handle,
      MemorySegment alpha,
      MemorySegment wDescriptor,
      long w,
      MemorySegment dyDescriptor,
      long dy,
      MemorySegment convolution,
      int algorithm,
      long workspace,
      long workspaceBytes,
      MemorySegment beta,
      MemorySegment dxDescriptor,
      long dx) {
    Operands on = new Operands(wDescriptor, w, dyDescriptor, dy, dxDescriptor, dx);
    return compute(
        Correlation.Wanted.IMAGE,
        handle,
        alpha,
        on,
        convolution,
        algorithm,
        workspace,
        workspaceBytes,
        beta);
  }

  private int cudnnConvolutionBackwardFilter(
      MemorySegment handle,
      MemorySegment alpha,
      MemorySegment xDescriptor,
      long x,
      MemorySegment dyDescriptor,
      long dy,
      MemorySegment convolution,
      int algorithm,
      long workspace,
      long workspaceBytes,
      MemorySegment beta,
      MemorySegment dwDescriptor,
      long dw) {
    Operands on = new Operands(xDescriptor, x, dyDescriptor, dy, dwDescriptor, dw);
    return compute(
        Correlation.Wanted.FILTER,
        handle,
        alpha,
        on,
        convolution,
        algorithm,
        workspace,
        workspaceBytes,
        beta);
  }
}
