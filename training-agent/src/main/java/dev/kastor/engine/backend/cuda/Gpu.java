package dev.kastor.engine.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One GPU: memory, kernels, copies, in order on one stream. What fails later is told by {@link
 * #await}.
 */
interface Gpu {
  /** For people, such as its model. */
  String name();

  /** Whether it takes {@link Task.Multiplication}s. */
  boolean multiplies();

  /**
   * Memory on the device.
   *
   * @throws OutOfGpuMemoryException if there is not that much
   */
  long allocate(long bytes);

  void free(long address);

  /**
   * Compiles kernels.
   *
   * @throws IllegalStateException with what the driver says, if it refuses the text
   */
  Module load(String ptx);

  /** Copies to the device; the memory must stay as it is until {@link #await}. */
  void copyIn(long address, MemorySegment from);

  /** Copies from the device, until {@link #await}. */
  void copyOut(MemorySegment to, long address);

  /** Returns once everything is done. */
  void await();

  /** Compiled kernels. */
  interface Module extends AutoCloseable {
    /** Prepares a sequence of tasks that can be repeated. */
    Sequence sequence(List<Call> calls);

    @Override
    void close();
  }

  /**
   * A task with its arguments.
   *
   * @param addresses of its buffers
   */
  record Call(Task task, List<Long> addresses) {
    public Call {
      addresses = List.copyOf(addresses);
    }
  }

  /** Tasks that follow each other. */
  interface Sequence extends AutoCloseable {
    /** Begins them all. */
    void run();

    @Override
    void close();
  }
}
