package dev.kastor.operator.api;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;

/**
 * How often each of many callers may do something: so many times at once, then at a steady rate.
 *
 * <p>Callers that have their full allowance again are forgotten. Thread-safe.
 */
final class Pace {
  private static final int SWEEP_ABOVE = 1_000;
  private static final double NANOS = 1e9;

  private record Allowance(double left, Instant at) {}

  private final InstantSource clock;
  private final double perSecond;
  private final double atOnce;
  private final Map<String, Allowance> callers = new HashMap<>();
  private Instant swept = Instant.EPOCH;

  /** A pace; a rate of 0 is none at all. */
  Pace(InstantSource clock, double perSecond, double atOnce) {
    this.clock = clock;
    this.perSecond = perSecond;
    this.atOnce = atOnce;
  }

  /** Counts one time; false if that was one too many, which is not counted. */
  synchronized boolean take(String caller) {
    if (perSecond <= 0) {
      return true;
    }
    Instant at = clock.instant();
    double left = now(caller, at);
    if (left < 1) {
      return false;
    }
    callers.put(caller, new Allowance(left - 1, at));
    sweep(at);
    return true;
  }

  /** Takes back one time that was counted. */
  synchronized void giveBack(String caller) {
    Instant at = clock.instant();
    callers.computeIfPresent(
        caller, (name, allowance) -> new Allowance(Math.min(atOnce, now(allowance, at) + 1), at));
  }

  private double now(String caller, Instant at) {
    Allowance allowance = callers.get(caller);
    return allowance == null ? atOnce : now(allowance, at);
  }

  private double now(Allowance allowance, Instant at) {
    double seconds = Duration.between(allowance.at(), at).toNanos() / NANOS;
    return Math.min(atOnce, allowance.left() + Math.max(0, seconds) * perSecond);
  }

  private void sweep(Instant at) {
    if (callers.size() > SWEEP_ABOVE && at.isAfter(swept.plusSeconds(1))) {
      swept = at;
      callers.values().removeIf(allowance -> now(allowance, at) >= atOnce);
    }
  }
}
