package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import java.lang.foreign.SegmentAllocator;

/**
 * Compiles graphs for a bounded number of CPU threads.
 *
 * <p>The same graph and inputs give the same bits in every run and process on one kind of machine
 * with one number of threads.
 */
public final class CpuBackend implements Backend {
  private final OneDnn oneDnn;

  private CpuBackend(OneDnn oneDnn) {
    this.oneDnn = oneDnn;
  }

  /** Whether this machine can use the backend. */
  public sealed interface Availability {
    /** It can. */
    record Available(CpuBackend backend) implements Availability {}

    /** It cannot, and why. */
    record Absent(String reason) implements Availability {}
  }

  /**
   * Loads the native library.
   *
   * @param threads for arithmetic, at least 1
   */
  public static Availability load(int threads) {
    if (threads < 1) {
      throw new IllegalArgumentException("threads must be at least 1, got " + threads + ".");
    }
    try {
      return new Availability.Available(new CpuBackend(new OneDnn(threads)));
    } catch (LinkageError e) {
      return new Availability.Absent("oneDNN does not load on this machine: " + e.getMessage());
    }
  }

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory) {
    oneDnn.boundThreads(); // A primitive is planned for the threads of the thread that makes it.
    return new Compilation(oneDnn, graph.lower(Kernels::knows)).executable(memory);
  }
}
