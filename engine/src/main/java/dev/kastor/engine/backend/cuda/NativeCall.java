package dev.kastor.engine.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A call of native code that answers with a status. */
@FunctionalInterface
interface NativeCall {
  /** Calls; what a method handle may throw is no business of such functions. */
  int run() throws Throwable;

  /** The answer. */
  static int status(NativeCall call) {
    try {
      return call.run();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * What a library calls a status.
   *
   * @param function of the library, which gives the text
   */
  @SuppressWarnings("restricted") // The text ends where the library says.
  static String text(MethodHandle function, int status) {
    String[] text = new String[1];
    status(() -> {
      MemorySegment found = (MemorySegment) function.invokeExact(status);
      text[0] = found.reinterpret(Long.MAX_VALUE).getString(0);
      return status;
    });
    return text[0];
  }
}
