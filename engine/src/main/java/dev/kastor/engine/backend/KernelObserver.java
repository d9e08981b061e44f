package dev.kastor.engine.backend;

import java.util.List;

/**
 * Hears which kernels compiled graphs have, and when each of them runs. A backend that nobody
 * observes does no work for it.
 */
public interface KernelObserver {
  /**
   * A graph is compiled and has this kernel.
   *
   * @return hears of each of its runs, from the thread that runs the graph
   */
  Runs compiled(Kernel kernel);

  /** Hears when one kernel ran. */
  @FunctionalInterface
  interface Runs {
    /** It ran; both in the terms of {@link System#nanoTime}. */
    void ran(long startNanos, long endNanos);
  }

  /**
   * A kernel.
   *
   * @param op what it computes, with what is computed inside it
   * @param result the type of its result
   * @param operands the types of what it reads
   * @param bytes how many it reads and writes, each of its operands counted once
   * @param aliveBytes memory that holds values of its graph while it runs
   */
  record Kernel(String op, String result, List<String> operands, long bytes, long aliveBytes) {
    public Kernel {
      operands = List.copyOf(operands);
    }
  }
}
