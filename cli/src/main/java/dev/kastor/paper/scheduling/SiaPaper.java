package dev.kastor.paper.scheduling;

import dev.kastor.paper.Certainty;
import dev.kastor.paper.Claim;
import dev.kastor.paper.Measured;
import dev.kastor.paper.Paper;
import dev.kastor.paper.PaperException;
import dev.kastor.paper.Reproduction;
import dev.kastor.paper.Threshold;
import dev.kastor.paper.Trial;
import dev.kastor.simulator.replay.Replay;
import java.util.List;
import java.util.Optional;

/** Sia: sizes and GPU types chosen by an integer program. */
public final class SiaPaper implements Paper {
  private static final String TABLE =
      "SOSP 2023, table of the heterogeneous cluster: 64 GPUs of three types, ten Philly traces";
  private static final double SECONDS_PER_HOUR = 3600;

  @Override
  public String name() {
    return "sia";
  }

  @Override
  public String title() {
    return "Sia (Jayaram Subramanya et al., SOSP 2023)";
  }

  @Override
  public String description() {
    return "Replays the six published Philly workloads under sia, pollux and gavel in mode sia.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "The mean completion time is 0.6 h, that of Pollux 1.0 h: 40 % less.",
            TABLE,
            Certainty.TEXT,
            Threshold.atLeast("mean completion time below pollux, %", 30, 15)),
        Claim.of(
            "That of Gavel is 1.9 h: 68 % less.",
            TABLE,
            Certainty.TEXT,
            Threshold.atLeast("mean completion time below gavel, %", 55, 30)),
        Claim.of(
            "The mean completion time under Sia is 0.6 ± 0.1 h.",
            TABLE,
            Certainty.TEXT,
            new Threshold("mean completion time of sia, h", 0.4, 0.5, 0.7, 0.9)),
        Claim.of(
            "A job takes 4.0 GPU-hours, under Pollux 5.6: 0.71 times as many.",
            TABLE,
            Certainty.TEXT,
            Threshold.atMost("GPU-hours over those under pollux", 0.85, 1)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(SiaPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    Replays replays = Replays.of(trial, "sia", "sia-philly", List.of("sia", "pollux", "gavel"));
    return List.of(
        replays.reduction("sia", "pollux"),
        replays.reduction("sia", "gavel"),
        replays.mean("sia", replay -> replay.averageSeconds() / SECONDS_PER_HOUR),
        replays.measured(replays.ratio("sia", "pollux", Replay::gpuHours)));
  }
}
