package dev.kastor.cli.replay;

import dev.kastor.simulator.recording.Likeness;
import dev.kastor.simulator.recording.Recording;
import dev.kastor.simulator.run.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Words for how far the replay of what really ran is from what happened. */
final class LikenessText {
  private final Recording recording;
  private final List<Outcome> outcomes;

  /** Of all outcomes, those count whose policy is the one that decided on the cluster. */
  LikenessText(Recording recording, List<Outcome> outcomes) {
    this.recording = recording;
    this.outcomes = outcomes;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Outcome outcome : outcomes) {
      if (outcome.run().policy().toString().equals(recording.policy())) {
        lines.add(
            recording
                .likeness(outcome.replay())
                .map(LikenessText::text)
                .orElse(
                    "No job was recorded from its arrival to its end, so nothing tells how good the replay is."));
      }
    }
    return lines;
  }

  private static String text(Likeness likeness) {
    return String.format(
        Locale.ROOT,
        "What happened: mean JCT %.0f s of the %d jobs that were recorded whole. The replay has %.0f"
            + " s of the same jobs (%+.1f %%); half of them are within %.1f %% of what happened.",
        likeness.realMean(),
        likeness.pairs().size(),
        likeness.replayedMean(),
        100 * likeness.meanError(),
        100 * likeness.medianError());
  }
}
