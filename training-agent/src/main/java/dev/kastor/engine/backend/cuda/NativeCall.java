package dev.kastor.engine.backend.cuda;

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
}
