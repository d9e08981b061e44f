package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.KernelObserver;
import dev.kastor.engine.graph.Graph;
import java.lang.foreign.SegmentAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Compiles graphs for a bounded number of CPU threads.
 *
 * <p>The same graph and inputs give the same bits in every run and process on one kind of machine
 * with one number of threads.
 */
public final class CpuBackend implements Backend {
  private final OneDnn oneDnn;
  private final @Nullable KernelObserver observer;

  private CpuBackend(OneDnn oneDnn, @Nullable KernelObserver observer) {
    this.oneDnn = oneDnn;
    this.observer = observer;
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
      return new Availability.Available(new CpuBackend(new OneDnn(threads), null));
    } catch (LinkageError e) {
      return new Availability.Absent("oneDNN does not load on this machine: " + e.getMessage());
    }
  }

  /** The same where somebody hears of each kernel that graphs compiled from now on have. */
  public CpuBackend observedBy(KernelObserver who) {
    return new CpuBackend(oneDnn, who);
  }

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public Executable compile(Graph graph, SegmentAllocator memory) {
    oneDnn.boundThreads(); // A primitive is planned for the threads of the thread that makes it.
    return new Compilation(oneDnn, graph.lower(Kernels::knows), observer).executable(memory);
  }
}
