package dev.kastor.cli.replay;

import dev.kastor.cli.terminal.CliException;
import dev.kastor.cli.terminal.ControlSequence;
import dev.kastor.cli.terminal.ExitCode;
import dev.kastor.cli.terminal.Format;
import dev.kastor.cli.terminal.Ink;
import dev.kastor.plugin.Chosen;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.simulator.run.Outcome;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.RunListener;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Progress of replays: on a terminal one line that keeps changing, elsewhere a line for each run
 * that ends. Used by all threads that replay.
 */
public final class ReplayProgress implements RunListener, AutoCloseable {
  private static final long REDRAW_NANOS = 200_000_000;
  private static final double NANOS = 1e9;

  /** The first column, and nothing from there to the end of the line. */
  private static final String CLEARED = ControlSequence.of("1G") + ControlSequence.of("K");

  /** A replay's share of finished jobs says little of its whole time before this. */
  private static final double TELLING_SHARE = 0.05;

  private final PrintWriter err;
  private final List<Run> runs;
  private final boolean quiet;
  private final boolean live;
  private final LongSupplier nanos;
  private final long began;
  private final long[] started;
  private final double[] share;
  private final double[] virtualSeconds;

  /** Wall seconds of ended runs; not a number for others. */
  private final double[] took;

  private final SequencedMap<String, RuntimeException> failures = new LinkedHashMap<>();
  private long drawn;
  private int ended;

  public ReplayProgress(PrintWriter err, List<Run> runs, boolean quiet) {
    this(err, runs, quiet, Ink.watched(), System::nanoTime);
  }

  ReplayProgress(PrintWriter err, List<Run> runs, boolean quiet, boolean live, LongSupplier nanos) {
    this.err = err;
    this.runs = List.copyOf(runs);
    this.quiet = quiet;
    this.live = live;
    this.nanos = nanos;
    began = nanos.getAsLong();
    drawn = began;
    started = new long[runs.size()];
    share = new double[runs.size()];
    virtualSeconds = new double[runs.size()];
    took = new double[runs.size()];
    Arrays.fill(took, Double.NaN);
  }

  @Override
  public synchronized void at(int run, double seconds, int done, int all) {
    long now = nanos.getAsLong();
    if (virtualSeconds[run] == 0) {
      started[run] = now;
    }
    share[run] = (double) done / all;
    virtualSeconds[run] = seconds;
    if (live && !quiet && now - drawn >= REDRAW_NANOS) {
      drawn = now;
      draw(run);
    }
  }

  private void draw(int run) {
    err.print(
        String.format(
            Locale.ROOT,
            "%s%d/%d runs  %s: %.0f %% of jobs  %s virtual h/s%s",
            CLEARED,
            ended,
            runs.size(),
            runs.get(run).label(),
            100 * share[run],
            rate(),
            left()));
    err.flush();
  }

  @Override
  public synchronized void finished(int run, Outcome outcome) {
    share[run] = 1;
    took[run] = (nanos.getAsLong() - started[run]) / NANOS;
    ended++;
    if (quiet || live) {
      return;
    }
    err.println(
        String.format(
            Locale.ROOT,
            "%d/%d  %s: mean JCT %.0f s, %s virtual h/s%s",
            ended,
            runs.size(),
            runs.get(run).label(),
            outcome.replay().averageSeconds(),
            rate(),
            left()));
    err.flush();
  }

  @Override
  public synchronized boolean failed(int run, RuntimeException why) {
    failures.put(runs.get(run).label(), why);
    took[run] = (nanos.getAsLong() - started[run]) / NANOS;
    ended++;
    if (!quiet) {
      err.println(
          "%s%d/%d  %s: failed: %s"
              .formatted(
                  live ? CLEARED : "", ended, runs.size(), runs.get(run).label(), said(why)));
      err.flush();
    }
    return true;
  }

  /** The runs that failed and why, one a line; empty if none did. */
  synchronized Optional<CliException> failure() {
    if (failures.isEmpty()) {
      return Optional.empty();
    }
    List<String> lines = new ArrayList<>();
    failures.forEach((run, why) -> lines.add("cannot replay %s: %s".formatted(run, said(why))));
    Iterator<RuntimeException> causes = failures.values().iterator();
    CliException failure =
        new CliException(ExitCode.FAILED, String.join("\n", lines), causes.next());
    causes.forEachRemaining(failure::addSuppressed);
    return Optional.of(failure);
  }

  /** Without a sentence of its own, an exception is named. */
  private static String said(RuntimeException why) {
    String message = why.getMessage();
    return why instanceof IllegalStateException && message != null ? message : why.toString();
  }

  /** Virtual hours replayed in a second. */
  private String rate() {
    double seconds = Math.max(1, nanos.getAsLong() - began) / NANOS;
    return String.format(
        Locale.ROOT, "%,.0f", Arrays.stream(virtualSeconds).sum() / 3600 / seconds);
  }

  /** Empty while nothing is known. Runs of one policy are taken to last equally long. */
  private String left() {
    int running = (int) IntStream.range(0, runs.size()).filter(this::isRunning).count();
    double seconds = 0;
    for (int r = 0; r < runs.size(); r++) {
      if (!Double.isNaN(took[r])) {
        continue;
      }
      OptionalDouble whole = expected(r);
      if (whole.isEmpty()) {
        return "";
      }
      double passed = isRunning(r) ? (nanos.getAsLong() - started[r]) / NANOS : 0;
      seconds += Math.max(0, whole.getAsDouble() - passed);
    }
    long millis = Math.round(1000 * seconds / Math.max(1, running));
    return ", about %s left".formatted(Format.duration(Duration.ofMillis(millis)));
  }

  private boolean isRunning(int run) {
    return virtualSeconds[run] > 0 && Double.isNaN(took[run]);
  }

  /** Wall seconds of a run from its beginning to its end. */
  private OptionalDouble expected(int run) {
    if (isRunning(run) && share[run] >= TELLING_SHARE) {
      return OptionalDouble.of((nanos.getAsLong() - started[run]) / NANOS / share[run]);
    }
    Chosen<PolicyPlugin> policy = runs.get(run).policy();
    OptionalDouble alike =
        IntStream.range(0, runs.size())
            .filter(r -> runs.get(r).policy().equals(policy) && !Double.isNaN(took[r]))
            .mapToDouble(r -> took[r])
            .average();
    return alike.isPresent()
        ? alike
        : Arrays.stream(took).filter(seconds -> !Double.isNaN(seconds)).average();
  }

  @Override
  public synchronized void close() {
    if (live && !quiet) {
      err.print(CLEARED);
      err.flush();
    }
  }
}
