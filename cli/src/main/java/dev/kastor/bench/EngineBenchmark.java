package dev.kastor.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures training steps of both sides by turns. The processes of a model live side by side, but
 * only one of them works at any time; who begins changes from round to round.
 */
public final class EngineBenchmark {
  private final Contender.Starter kastor;
  private final Contender.@Nullable Starter peer;
  private final double windowSeconds;
  private final int rounds;
  private final Consumer<String> progress;

  /**
   * @param peer absent where Kastor is measured alone
   * @param windowSeconds how long each side works in a round, at least one step
   * @param rounds that count; one more comes before them
   * @param progress gets a line now and then
   */
  public EngineBenchmark(
      Contender.Starter kastor,
      Contender.@Nullable Starter peer,
      double windowSeconds,
      int rounds,
      Consumer<String> progress) {
    this.kastor = kastor;
    this.peer = peer;
    this.windowSeconds = windowSeconds;
    this.rounds = rounds;
    this.progress = progress;
  }

  /** Measures one model. */
  public EngineResult run(Workload workload, int threads) throws BenchException {
    String label = "%s, %d thread%s".formatted(workload.name(), threads, threads == 1 ? "" : "s");
    progress.accept(label + ": starting Kastor");
    try (Contender ours = kastor.start(workload, threads)) {
      if (peer == null) {
        return rounds(workload, threads, label, ours, null);
      }
      progress.accept(label + ": starting the peer");
      try (Contender theirs = peer.start(workload, threads)) {
        if (theirs.started().parameters() != ours.started().parameters()) {
          throw new BenchException(
              "%s has %d parameters in Kastor but %d in %s; both must train the same model"
                  .formatted(
                      workload.name(),
                      ours.started().parameters(),
                      theirs.started().parameters(),
                      theirs.started().library()));
        }
        return rounds(workload, threads, label, ours, theirs);
      }
    }
  }

  private EngineResult rounds(
      Workload workload, int threads, String label, Contender ours, @Nullable Contender theirs)
      throws BenchException {
    progress.accept(label + ": warming up");
    round(ours, theirs, true);
    List<EngineResult.Round> all = new ArrayList<>();
    for (int i = 1; i <= rounds; i++) {
      EngineResult.Round round = round(ours, theirs, i % 2 == 1);
      all.add(round);
      progress.accept("%s: round %d of %d: %s".formatted(label, i, rounds, text(round)));
    }
    return new EngineResult(
        workload, threads, ours.started(), theirs == null ? null : theirs.started(), all);
  }

  private EngineResult.Round round(Contender ours, @Nullable Contender theirs, boolean weBegin)
      throws BenchException {
    if (theirs == null) {
      return new EngineResult.Round(ours.measure(windowSeconds), null);
    }
    if (weBegin) {
      Contender.Window first = ours.measure(windowSeconds);
      return new EngineResult.Round(first, theirs.measure(windowSeconds));
    }
    Contender.Window first = theirs.measure(windowSeconds);
    return new EngineResult.Round(ours.measure(windowSeconds), first);
  }

  private static String text(EngineResult.Round round) {
    String ours =
        String.format(Locale.ROOT, "%.2f steps a second", round.kastor().stepsPerSecond());
    return round.peer() == null
        ? ours
        : String.format(
            Locale.ROOT,
            "%s, peer %.2f, ratio %.2f",
            ours,
            round.peer().stepsPerSecond(),
            round.ratio());
  }
}
