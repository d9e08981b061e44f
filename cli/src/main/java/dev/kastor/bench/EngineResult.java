package dev.kastor.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One model with so many threads on both sides.
 *
 * @param kastor what our side said of itself
 * @param peer the same of the peer, if there is one
 * @param rounds in order
 */
public record EngineResult(
    Workload workload,
    int threads,
    Contender.Start kastor,
    Contender.@Nullable Start peer,
    List<Round> rounds) {
  public EngineResult {
    rounds = List.copyOf(rounds);
  }

  /** Measured right after one another. */
  public record Round(Contender.Window kastor, Contender.@Nullable Window peer) {
    /** Steps per second over the peer's; NaN without a peer. */
    public double ratio() {
      return peer == null ? Double.NaN : kastor.stepsPerSecond() / peer.stepsPerSecond();
    }

    /** The peer's processor time for a step over ours; NaN without a peer. */
    public double cpuRatio() {
      return peer == null ? Double.NaN : peer.cpuMillisPerStep() / kastor.cpuMillisPerStep();
    }
  }

  /**
   * Seconds from the start of our process to its first step, with all that is prepared on the way:
   * to the end of that step, less what a step takes later on.
   */
  public double readySeconds() {
    return kastor.firstStepSeconds() - 1 / ours(Contender.Window::stepsPerSecond);
  }

  /** The same of the peer; NaN without one. */
  public double peerReadySeconds() {
    return peer == null
        ? Double.NaN
        : peer.firstStepSeconds() - 1 / peers(Contender.Window::stepsPerSecond);
  }

  /** The median over the rounds of a figure of ours. */
  public double ours(ToDoubleFunction<Contender.Window> figure) {
    return median(round -> figure.applyAsDouble(round.kastor()));
  }

  /** The median over the rounds of a figure of the peer; NaN without one. */
  public double peers(ToDoubleFunction<Contender.Window> figure) {
    return median(round -> round.peer() == null ? Double.NaN : figure.applyAsDouble(round.peer()));
  }

  /** The median over the rounds. */
  public double median(ToDoubleFunction<Round> figure) {
    double[] sorted = rounds.stream().mapToDouble(figure).sorted().toArray();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
}
