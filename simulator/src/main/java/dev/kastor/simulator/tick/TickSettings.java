package dev.kastor.simulator.tick;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.policy.PolicyTraits;
import dev.kastor.simulator.replay.DeclaredWork;
import dev.kastor.simulator.replay.Mode;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Rules of a replay in rounds.
 *
 * @param mode Pollux's or Sia's
 * @param round time between decisions; empty for a minute, or in Sia's mode what the policy was
 *     published with
 * @param interference share of its goodput that a job on several nodes loses while one of them
 *     holds another such job, in [0, 1)
 * @param familyMemory whether jobs of one family learn from each other, under policies that want it
 * @param declaredWork what jobs say of their work
 * @param queues queues with a weight of their own, by name
 * @param limit virtual time after which a replay is given up
 */
public record TickSettings(
    Mode mode,
    Optional<Duration> round,
    double interference,
    boolean familyMemory,
    DeclaredWork declaredWork,
    Map<String, Queue> queues,
    Duration limit) {
  public TickSettings {
    queues = Map.copyOf(queues);
    if (mode == Mode.EVENTS) {
      throw new IllegalArgumentException("mode events has no fixed rounds");
    }
    round.ifPresent(TickSettings::check);
    if (!(interference >= 0 && interference < 1)) {
      throw new IllegalArgumentException(
          "interference (%s) must be at least 0 and below 1".formatted(interference));
    }
  }

  private static void check(Duration round) {
    if (!round.isPositive() || round.toSeconds() * 1_000_000_000L != round.toNanos()) {
      throw new IllegalArgumentException(
          "a round must be a positive number of whole seconds, not " + round);
    }
  }

  /** The published rounds, no interference, no family memory, at most 400 days. */
  public static TickSettings of(Mode mode) {
    return new TickSettings(
        mode, Optional.empty(), 0, false, DeclaredWork.EXACT, Map.of(), Duration.ofDays(400));
  }

  /** Time between decisions of this policy. */
  Duration roundOf(PolicyTraits policy) {
    return round.orElseGet(() -> publishedRound(mode, policy));
  }

  /** Time between decisions of a policy where nobody asked for another. */
  public static Duration publishedRound(Mode mode, PolicyTraits policy) {
    return mode == Mode.SIA ? policy.publishedRound() : Duration.ofSeconds(60);
  }

  /** The same with another round. */
  public TickSettings withRound(Duration other) {
    return new TickSettings(
        mode, Optional.of(other), interference, familyMemory, declaredWork, queues, limit);
  }

  /** The same with another loss between neighbours. */
  public TickSettings withInterference(double share) {
    return new TickSettings(mode, round, share, familyMemory, declaredWork, queues, limit);
  }

  /** The same with or without jobs that learn from their families. */
  public TickSettings withFamilyMemory(boolean remembers) {
    return new TickSettings(mode, round, interference, remembers, declaredWork, queues, limit);
  }

  /** The same where jobs say something else of their work. */
  public TickSettings withDeclaredWork(DeclaredWork work) {
    return new TickSettings(mode, round, interference, familyMemory, work, queues, limit);
  }

  /** The same with other queues. */
  public TickSettings withQueues(Map<String, Queue> weighted) {
    return new TickSettings(mode, round, interference, familyMemory, declaredWork, weighted, limit);
  }
}
