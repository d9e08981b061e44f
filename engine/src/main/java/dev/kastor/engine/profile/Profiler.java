package dev.kastor.engine.profile;

import dev.kastor.engine.backend.KernelObserver;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes down each run of each kernel, and what the caller names, while it is told to. Used by the
 * one thread that runs the graphs.
 */
public final class Profiler implements KernelObserver {
  /** More than this is more than anybody looks at, or than a viewer opens. */
  static final int MOST_EVENTS = 1_000_000;

  /** The track of the thread that takes the steps. */
  static final String STEP = "step";

  /** A kernel's run, in nanoseconds since the profile began. */
  record Run(Kernel kernel, long start, long end) {}

  /** A part of the time that the caller named, in nanoseconds since the profile began. */
  record Span(String track, String name, long start, long end) {}

  private final List<Run> runs = new ArrayList<>();
  private final List<Span> spans = new ArrayList<>();
  private boolean recording;
  private long began;
  private long left;

  @Override
  public Runs compiled(Kernel kernel) {
    return (start, end) -> {
      if (recording && room()) {
        runs.add(new Run(kernel, start - began, end - began));
      }
    };
  }

  /** From now on all is taken down; what comes before, such as the first steps, is not. */
  public void start() {
    began = System.nanoTime();
    recording = true;
  }

  /** Takes down a part of a step, by {@link System#nanoTime}. */
  public void span(String name, long startNanos, long endNanos) {
    span(STEP, name, startNanos, endNanos);
  }

  /**
   * Takes down a part of the time.
   *
   * @param track who spent it; what has one track does not overlap
   */
  public void span(String track, String name, long startNanos, long endNanos) {
    if (recording && room()) {
      spans.add(new Span(track, name, startNanos - began, endNanos - began));
    }
  }

  /** What took place but found no room. */
  public long left() {
    return left;
  }

  List<Run> runs() {
    return runs;
  }

  List<Span> spans() {
    return spans;
  }

  private boolean room() {
    boolean room = runs.size() + spans.size() < MOST_EVENTS;
    left += room ? 0 : 1;
    return room;
  }
}
