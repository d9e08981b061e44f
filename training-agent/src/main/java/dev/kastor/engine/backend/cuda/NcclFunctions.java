package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** The functions of NCCL that {@link Nccl} calls (NCCL documentation, "NCCL API"). */
@SuppressWarnings("restricted") // Calling what the machine has is the purpose.
record NcclFunctions(
    MethodHandle version,
    MethodHandle errorString,
    MethodHandle uniqueId,
    MethodHandle join,
    MethodHandle asyncError,
    MethodHandle allReduce,
    MethodHandle abort) {
  static final int ID_BYTES = 128;

  /** ncclUniqueId, which is handed over by value. */
  static final MemoryLayout ID =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(ID_BYTES, JAVA_BYTE));

  /**
   * Looks all of them up.
   *
   * @throws IllegalStateException if one is missing
   */
  static NcclFunctions of(SymbolLookup symbols) {
    return new NcclFunctions(
        function(symbols, "ncclGetVersion", ADDRESS),
        handle(symbols, "ncclGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT)),
        function(symbols, "ncclGetUniqueId", ADDRESS),
        function(symbols, "ncclCommInitRankConfig", ADDRESS, JAVA_INT, ID, JAVA_INT, ADDRESS),
        function(symbols, "ncclCommGetAsyncError", ADDRESS, ADDRESS),
        function(
            symbols,
            "ncclAllReduce",
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            JAVA_LONG),
        function(symbols, "ncclCommAbort", ADDRESS));
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
}
