package dev.kastor.engine.backend.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;

/** The functions of NCCL that {@link Nccl} calls (NCCL documentation, "NCCL API"). */
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
  static NcclFunctions of(NativeLibrary library) {
    return new NcclFunctions(
        library.function("ncclGetVersion", ADDRESS),
        library.function("ncclGetErrorString", FunctionDescriptor.of(ADDRESS, JAVA_INT)),
        library.function("ncclGetUniqueId", ADDRESS),
        library.function("ncclCommInitRankConfig", ADDRESS, JAVA_INT, ID, JAVA_INT, ADDRESS),
        library.function("ncclCommGetAsyncError", ADDRESS, ADDRESS),
        library.function(
            "ncclAllReduce",
            JAVA_LONG,
            JAVA_LONG,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            JAVA_LONG),
        library.function("ncclCommAbort", ADDRESS));
  }
}
