package dev.kastor.simulator.run;

import java.time.Duration;

/**
 * Times of what happens again and again in a replay from event to event, besides rounds.
 *
 * @param decisionDelay shortest time between two decisions
 * @param reports time between two reports of a job
 */
public record Pace(Duration decisionDelay, Duration reports) {
  /** Decisions a second apart, reports every half minute. */
  public static final Pace USUAL = new Pace(Duration.ofSeconds(1), Duration.ofSeconds(30));
}
