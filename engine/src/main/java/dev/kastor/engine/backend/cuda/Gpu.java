package dev.kastor.engine.backend.cuda;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * One GPU: memory, kernels and copies to it, in order on one stream, and copies from it on another.
 * What fails later is told by {@link #await} and {@link #awaitCopies}.
 */
interface Gpu {
  /** For people, such as its model. */
  String name();

  /** Whether it takes {@link Task.Multiplication}s. */
  boolean multiplies();

  /** Whether it takes a {@link Task.Convolution} of this. */
  boolean convolves(Correlation correlation);

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

  /** Copies from the device once an event has come, while other work goes on there. */
  void copyOut(MemorySegment to, long address, Event after);

  /** Returns once all copies from the device are done. */
  void awaitCopies();

  /** Returns once everything but copies from the device is done. */
  void await();

  /** An event that has not been recorded yet. */
  Event event();

  /** A point in what was begun, which comes when all of that is done. */
  interface Event extends AutoCloseable {
    /** Moves it to after all that was begun up to now. */
    void record();

    @Override
    void close();
  }

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
