package dev.kastor.agent.pace;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Pacer of passes: each lasts as long as on an accelerator of its pace, and what the computation
 * leaves of that is slept.
 *
 * <p>Most of it is slept before the computation, so that the gradient is there at the end of the
 * pass, as on an accelerator. Where passes take longer than the pace, this machine is too slow or
 * too busy for it: that is said, with the number of such slots that the machine paces. One thread
 * uses it.
 */
final class Pacer {
  /** Of paced time, between two looks at whether the pace is kept. */
  private static final long WINDOW = Duration.ofSeconds(10).toNanos();

  private static final double MOST_LATE = 1.05;

  /** Of the time that a computation took lately, for one that takes longer. */
  private static final double RESERVE = 1.25;

  private static final double NEWEST = 0.2;

  private final Pace pace;
  private final Machine machine;
  private final Consumer<String> warn;
  private long began;
  private long computedFrom;
  private long planned;

  /** Of the time of a pass, that the computation takes; 1 before it is known. */
  private double share = 1;

  private final Window window = new Window();
  private int quiet;
  private int toSkip;

  Pacer(Pace pace, Machine machine, Consumer<String> warn) {
    this.pace = pace;
    this.machine = machine;
    this.warn = warn;
    window.begin();
  }

  /** Begins a pass over so many examples, and sleeps until it is time to compute. */
  void begin(int examples) {
    began = machine.nanos();
    planned = pace.nanos(examples);
    machine.sleepUntil(began + Math.round(planned * Math.max(0, 1 - RESERVE * share)));
    computedFrom = machine.nanos();
  }

  /** Ends the pass when it is time. */
  void end() {
    double took = (double) (machine.nanos() - computedFrom) / Math.max(1, planned);
    share = share == 1 ? took : share + NEWEST * (took - share);
    machine.sleepUntil(began + planned);
    window.add(planned, machine.nanos() - began);
    if (window.planned >= WINDOW) {
      window.late().ifPresent(this::warn);
      window.begin();
    }
  }

  /** Warns of the first window, then of ever fewer. */
  private void warn(String late) {
    if (toSkip > 0) {
      toSkip--;
      return;
    }
    warn.accept(late);
    quiet = 2 * quiet + 1;
    toSkip = quiet;
  }

  /** Passes since the last look. */
  private final class Window {
    private long since;
    private Duration computedBefore = Duration.ZERO;
    private long planned;
    private long took;

    void begin() {
      since = machine.nanos();
      computedBefore = machine.computed();
      planned = 0;
      took = 0;
    }

    void add(long more, long taken) {
      planned += more;
      took += taken;
    }

    /** Warning where passes took longer than they should. */
    Optional<String> late() {
      double late = (double) took / planned;
      if (late <= MOST_LATE) {
        return Optional.empty();
      }
      double busy =
          (double) machine.computed().minus(computedBefore).toNanos()
              / Math.max(1, machine.nanos() - since);
      long slots = busy > 0 ? (long) Math.floor(machine.cores() / busy) : 0;
      return Optional.of(
          "passes take %.2f times their pace: this machine is too slow or too busy for it. This replica needs %.2f of a core, so that the %d here pace %d such slots"
              .formatted(late, busy, machine.cores(), slots));
    }
  }
}
