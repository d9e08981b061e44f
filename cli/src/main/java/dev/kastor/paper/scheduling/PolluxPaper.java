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

/** Pollux: sizes and batches chosen by goodput. */
public final class PolluxPaper implements Paper {
  private static final String ARTIFACT =
      "results of the published artifact, 16 nodes of 4 GPUs, rounds of 60 s";

  /** Mean completion time in seconds of workloads 1 to 6 in the artifact's results. */
  private static final double PUBLISHED_SECONDS = 2573.5;

  @Override
  public String name() {
    return "pollux";
  }

  @Override
  public String title() {
    return "Pollux (Qiao et al., OSDI 2021)";
  }

  @Override
  public String description() {
    return "Replays workloads 1 to 6 of the artifact in mode pollux, and one training of the"
        + " shipped imagenet profile on a cluster that follows the advice on its size.";
  }

  @Override
  public List<Claim> claims() {
    return List.of(
        Claim.of(
            "The mean completion time is 32 % below that of Tiresias with tuned jobs, over eight"
                + " workloads.",
            ARTIFACT,
            Certainty.CODE,
            Threshold.atLeast("mean completion time below tiresias, %", 25, 10)),
        Claim.of(
            "It is 52 % below that of Optimus with an oracle.",
            ARTIFACT,
            Certainty.CODE,
            Threshold.atLeast("mean completion time below optimus, %", 45, 20)),
        Claim.of(
            "The mean of workloads 1 to 6 is 2,574 s, within 5 %.",
            ARTIFACT + "; its README for the 5 %",
            Certainty.CODE,
            new Threshold("our mean over the published one", 0.8, 0.95, 1.05, 1.25)),
        Claim.of(
            "A cluster that grows with the statistical efficiency of one large training trains it"
                + " for less money than one that does not look at it.",
            "OSDI 2021, evaluation in the cloud",
            Certainty.RECALLED,
            Threshold.atMost("price over that of the fixed cluster that is as fast", 0.9, 1)));
  }

  @Override
  public Optional<Reproduction> reproduction() {
    return Optional.of(PolluxPaper::measure);
  }

  private static List<Measured> measure(Trial trial) throws PaperException, InterruptedException {
    Replays replays =
        Replays.of(trial, "pollux", "pollux-1.0", List.of("pollux", "tiresias", "optimus"));
    Measured ours = replays.mean("pollux", Replay::averageSeconds);
    return List.of(
        replays.reduction("pollux", "tiresias"),
        replays.reduction("pollux", "optimus"),
        new Measured(
            ours.value() / PUBLISHED_SECONDS,
            ours.low() / PUBLISHED_SECONDS,
            ours.high() / PUBLISHED_SECONDS,
            ours.over()),
        CloudPrice.of(trial));
  }
}
