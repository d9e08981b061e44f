package dev.kastor.engine.backend.cpu;

/** One step of a compiled graph, bound to its memory. */
@FunctionalInterface
interface Kernel {
  void run();

  /** Frees what the kernel holds outside the heap. */
  default void close() {}
}
