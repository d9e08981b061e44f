package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The functions of cuDNN that {@link Cudnn} calls (cuDNN documentation, "API Reference", cudnn_ops
 * and cudnn_cnn; they are its legacy API, which version 9 still has).
 *
 * @param tensor and the others of descriptors create, fill and destroy one
 * @param result and the others of {@link Correlation.Wanted} find algorithms and compute
 */
record CudnnFunctions(
    MethodHandle version,
    MethodHandle errorString,
    MethodHandle create,
    MethodHandle destroy,
    MethodHandle setStream,
    Descriptor tensor,
    Descriptor filter,
    Descriptor convolution,
    MethodHandle setMathType,
    Direction result,
    Direction imageGradient,
    Direction filterGradient) {
  /** What makes descriptors of one kind. */
  record Descriptor(MethodHandle create, MethodHandle set, MethodHandle destroy) {}

  /**
   * What computes one of the three. All take two operands and the result in this order: to find
   * algorithms their descriptors, to compute their descriptors and addresses.
   */
  record Direction(String name, MethodHandle algorithms, MethodHandle compute) {}

  /**
   * Looks all of them up.
   *
   * @throws IllegalStateException if one is missing
   */
  static CudnnFunctions of(NativeLibrary library) {
    return new CudnnFunctions(
        library.function("cudnnGetVersion", FunctionDescriptor.of(JAVA_LONG)),
        library.function("cudnnGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT)),
        library.function("cudnnCreate", ADDRESS),
        library.function("cudnnDestroy", ADDRESS),
        library.function("cudnnSetStream", ADDRESS, JAVA_LONG),
        descriptor(library, "Tensor", "4d", ints(6)),
        descriptor(library, "Filter", "4d", ints(6)),
        descriptor(library, "Convolution", "2d", ints(8)),
        library.function("cudnnSetConvolutionMathType", ADDRESS, JAVA_INT),
        direction(library, "Forward"),
        direction(library, "BackwardData"),
        direction(library, "BackwardFilter"));
  }

  /** A descriptor and so many numbers. */
  private static MemoryLayout[] ints(int count) {
    MemoryLayout[] parameters = new MemoryLayout[count + 1];
    Arrays.fill(parameters, JAVA_INT);
    parameters[0] = ADDRESS;
    return parameters;
  }

  private static Descriptor descriptor(
      NativeLibrary library, String kind, String axes, MemoryLayout[] set) {
    return new Descriptor(
        library.function("cudnnCreate" + kind + "Descriptor", ADDRESS),
        library.function("cudnnSet" + kind + axes + "Descriptor", set),
        library.function("cudnnDestroy" + kind + "Descriptor", ADDRESS));
  }

  private static Direction direction(NativeLibrary library, String name) {
    String compute = "cudnnConvolution" + name;
    return new Direction(
        compute,
        library.function(
            "cudnnGetConvolution" + name + "Algorithm_v7",
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
        library.function(
            compute, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_INT,
            JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
  }

  /** What computes one of the three. */
  Direction direction(Correlation.Wanted wanted) {
    return switch (wanted) {
      case RESULT -> result;
      case IMAGE -> imageGradient;
      case FILTER -> filterGradient;
    };
  }
}
