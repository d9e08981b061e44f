package dev.kastor.cli;

import dev.kastor.simulator.Outcome;
import dev.kastor.simulator.Run;
import dev.kastor.simulator.RunListener;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * How far replays are: on a terminal one line that keeps changing, elsewhere a line for each run
 * that ends. Used by all threads that replay.
 */
final class ReplayProgress implements RunListener, AutoCloseable {
  private static final long REDRAW_NANOS = 200_000_000;
  private static final double NANOS = 1e9;

  private final PrintWriter err;
  private final List<Run> runs;
  private final boolean quiet;
  private final boolean live;
  private final long began = System.nanoTime();
  private final double[] share;
  private final double[] virtualSeconds;
  private long drawn = began;
  private int ended;

  ReplayProgress(PrintWriter err, List<Run> runs, boolean quiet) {
    this(err, runs, quiet, Ink.watched());
  }

  ReplayProgress(PrintWriter err, List<Run> runs, boolean quiet, boolean live) {
    this.err = err;
    this.runs = List.copyOf(runs);
    this.quiet = quiet;
    this.live = live;
    share = new double[runs.size()];
    virtualSeconds = new double[runs.size()];
  }

  @Override
  public void at(int run, double seconds, int done, int all) {
    // Each run has one writer; a line that is a moment old does no harm.
    share[run] = (double) done / all;
    virtualSeconds[run] = seconds;
    if (live && !quiet) {
      draw(run);
    }
  }

  private synchronized void draw(int run) {
    long now = System.nanoTime();
    if (now - drawn < REDRAW_NANOS) {
      return;
    }
    drawn = now;
    double part = sum(share) / runs.size();
    err.print(
        String.format(
            Locale.ROOT,
            "\r\033[K%3.0f %%  %d/%d runs  %s  %s h/s%s",
            100 * part,
            ended,
            runs.size(),
            runs.get(run).label(),
            rate(),
            part > 0 ? "  " + Format.duration(left(part)) + " left" : ""));
    err.flush();
  }

  @Override
  public synchronized void finished(int run, Outcome outcome) {
    share[run] = 1;
    ended++;
    if (quiet || live) {
      return;
    }
    err.println(
        String.format(
            Locale.ROOT,
            "%d/%d  %s: mean JCT %.0f s, %s virtual h/s, about %s left",
            ended,
            runs.size(),
            runs.get(run).label(),
            outcome.replay().averageSeconds(),
            rate(),
            Format.duration(left(sum(share) / runs.size()))));
    err.flush();
  }

  /** Virtual hours replayed in a second. */
  private String rate() {
    return String.format(Locale.ROOT, "%,.0f", sum(virtualSeconds) / 3600 / elapsedSeconds());
  }

  private Duration left(double part) {
    return Duration.ofMillis(Math.round(1000 * elapsedSeconds() * (1 - part) / part));
  }

  private double elapsedSeconds() {
    return Math.max(1, System.nanoTime() - began) / NANOS;
  }

  private static double sum(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }

  @Override
  public synchronized void close() {
    if (live && !quiet) {
      err.print("\r\033[K");
      err.flush();
    }
  }
}
