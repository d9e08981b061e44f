package dev.kastor.simulator;

import dev.kastor.simulator.event.EventSettings;
import dev.kastor.simulator.event.NodeFailures;
import dev.kastor.simulator.event.Resize;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;

/**
 * What makes a replay harder than an undisturbed one.
 *
 * @param interference share of its speed that a job on several nodes loses while one of them holds
 *     another such job, in [0, 1)
 * @param liveRescale pause of a running job that changes its size; mode events only
 * @param failures how nodes fail; mode events only
 * @param resizes planned changes of the cluster; mode events only
 */
public record Conditions(
    double interference,
    Duration liveRescale,
    Optional<NodeFailures> failures,
    List<Resize> resizes) {
  /** Nothing disturbs, and rescaling costs what Kastor's agent was measured to need. */
  public static final Conditions PLAIN =
      new Conditions(0, EventSettings.defaults().liveRescale(), Optional.empty(), List.of());

  public Conditions {
    resizes = List.copyOf(resizes);
    if (!(interference >= 0 && interference < 1)) {
      throw new IllegalArgumentException(
          "interference must be at least 0 and below 1 but is " + interference);
    }
    if (liveRescale.isNegative()) {
      throw new IllegalArgumentException(
          "a rescale cannot take less than no time but is " + liveRescale);
    }
  }

  /** Whether only mode events can replay them. */
  boolean needEvents() {
    return !liveRescale.equals(PLAIN.liveRescale()) || failures.isPresent() || !resizes.isEmpty();
  }

  EventSettings settings(Duration round) {
    EventSettings defaults = EventSettings.defaults();
    Duration atLeast =
        defaults.decisionInterval().compareTo(round) > 0 ? round : defaults.decisionInterval();
    EventSettings settings =
        defaults
            .withDecisions(atLeast, round)
            .withInterference(interference)
            .withLiveRescale(liveRescale)
            .withResizes(resizes);
    return failures
        .map(nodes -> settings.withFailures(nodes, settings.checkpointInterval()))
        .orElse(settings);
  }

  /** One line; empty for {@link #PLAIN}. */
  @Override
  public String toString() {
    StringJoiner parts = new StringJoiner(", ");
    if (interference > 0) {
      parts.add("interference " + interference);
    }
    if (!liveRescale.equals(PLAIN.liveRescale())) {
      parts.add("live rescale %d ms".formatted(liveRescale.toMillis()));
    }
    failures.ifPresent(nodes ->
        parts.add(
            "a node fails every %d s for %d s"
                .formatted(
                    nodes.meanTimeBetween().toSeconds(), nodes.meanTimeToRepair().toSeconds())));
    resizes.forEach(resize ->
        parts.add(
            "%s%d nodes from %d s"
                .formatted(
                    resize.gpuType().isEmpty() ? "" : resize.gpuType() + " ",
                    resize.nodes(),
                    resize.at().toSeconds())));
    return parts.toString();
  }
}
