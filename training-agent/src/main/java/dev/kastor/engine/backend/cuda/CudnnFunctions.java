package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * The functions of cuDNN that {@link Cudnn} calls (cuDNN documentation, "API Reference", cudnn_ops
 * and cudnn_cnn; they are its legacy API, which version 9 still has).
 *
 * @param tensor and the others of descriptors create, fill and destroy one
 * @param result and the others of {@link Correlation.Wanted} find algorithms and compute
 */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
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
  static CudnnFunctions of(SymbolLookup symbols) {
    return new CudnnFunctions(
        handle(symbols, "cudnnGetVersion", FunctionDescriptor.of(JAVA_LONG)),
        handle(symbols, "cudnnGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT)),
        function(symbols, "cudnnCreate", ADDRESS),
        function(symbols, "cudnnDestroy", ADDRESS),
        function(symbols, "cudnnSetStream", ADDRESS, JAVA_LONG),
        descriptor(symbols, "Tensor", "4d", ints(6)),
        descriptor(symbols, "Filter", "4d", ints(6)),
        descriptor(symbols, "Convolution", "2d", ints(8)),
        function(symbols, "cudnnSetConvolutionMathType", ADDRESS, JAVA_INT),
        direction(symbols, "Forward"),
        direction(symbols, "BackwardData"),
        direction(symbols, "BackwardFilter"));
  }

  /** A descriptor and so many numbers. */
  private static MemoryLayout[] ints(int count) {
    MemoryLayout[] parameters = new MemoryLayout[count + 1];
    Arrays.fill(parameters, JAVA_INT);
    parameters[0] = ADDRESS;
    return parameters;
  }

  private static Descriptor descriptor(
      SymbolLookup symbols, String kind, String axes, MemoryLayout[] set) {
    return new Descriptor(
        function(symbols, "cudnnCreate" + kind + "Descriptor", ADDRESS),
        function(symbols, "cudnnSet" + kind + axes + "Descriptor", set),
        function(symbols, "cudnnDestroy" + kind + "Descriptor", ADDRESS));
  }

  private static Direction direction(SymbolLookup symbols, String name) {
    String compute = "cudnnConvolution" + name;
    return new Direction(
        compute,
        function(
            symbols,
            "cudnnGetConvolution" + name + "Algorithm_v7",
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            ADDRESS,
            JAVA_INT,
            ADDRESS,
            ADDRESS),
        function(
            symbols, compute, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS,
            JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG));
  }

  private static MethodHandle function(
      SymbolLookup symbols, String name, MemoryLayout... parameters) {
    return handle(symbols, name, FunctionDescriptor.of(JAVA_INT, parameters));
  }

  private static MethodHandle handle(SymbolLookup symbols, String name, FunctionDescriptor form) {
    MemorySegment address =
        symbols.find(name).orElseThrow(() -> new IllegalStateException(name + " is missing."));
    return Linker.nativeLinker().downcallHandle(address, form);
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
