package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.ControlSequence;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.evaluate.Bounds;
import java.io.PrintWriter;

/**
 * Progress of a lower bound: on a terminal one line that keeps changing, elsewhere a line when it
 * begins. Used by one thread.
 */
public final class BoundProgress implements Bounds.Listener {
  private static final String CLEARED = ControlSequence.of("1G") + ControlSequence.of("K");

  private final PrintWriter err;
  private final String workload;
  private final boolean live;

  /** Begins with a workload. */
  public BoundProgress(PrintWriter err, String workload, boolean quiet) {
    this.err = err;
    this.workload = workload;
    live = Ink.watched() && !quiet;
    if (!quiet && !live) {
      err.println("lower bound of %s, %d steps".formatted(workload, LowerBound.ENOUGH_STEPS));
      err.flush();
    }
  }

  @Override
  public void accept(int steps) {
    if (live) {
      err.print(
          "%slower bound of %s: %d/%d steps"
              .formatted(CLEARED, workload, steps, LowerBound.ENOUGH_STEPS));
      err.flush();
    }
  }

  @Override
  public void close() {
    if (live) {
      err.print(CLEARED);
      err.flush();
    }
  }
}
