package dev.kastor.operator.usage;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Meter of what the slots of one job cost, in whole millionths of the currency. What rounding
 * leaves out of one time goes into the next, so that the sum is price times time. Not thread-safe.
 */
final class CostMeter {
  /** Millionths of the currency for one in an hour, over a millisecond. */
  private static final double MICROS_PER_MILLI = 1e6 / 3.6e6;

  /**
   * Cost of an allocation in an hour.
   *
   * @param perHour in the currency of the nodes' prices
   * @param priced slots on nodes that have a price
   */
  private record Rate(double perHour, int priced) {
    private static final Rate NONE = new Rate(0, 0);
  }

  private final SlotPrices prices;
  private Map<String, Integer> replicas = Map.of();
  private int slotsPerReplica = 1;
  private Rate rate = Rate.NONE;

  /** Part of a millionth by which the account is too small; may be negative. */
  private double restMicros;

  CostMeter(SlotPrices prices) {
    this.prices = prices;
  }

  /** From now on the job has these replicas, by node. */
  void follow(Map<String, Integer> given, int slotsOfEach) {
    replicas = given;
    slotsPerReplica = slotsOfEach;
    rate = rate().orElse(Rate.NONE);
  }

  /** From now on nodes cost what they tell now. */
  void reprice() {
    // A node that has gone cost the same up to the end.
    rate = rate().orElse(rate);
  }

  /** The rate of the replicas; empty if one of their nodes is not there. */
  private Optional<Rate> rate() {
    double perHour = 0;
    int priced = 0;
    for (Map.Entry<String, Integer> entry : replicas.entrySet()) {
      OptionalDouble price = prices.perHour(entry.getKey());
      if (price.isEmpty()) {
        return Optional.empty();
      }
      if (price.getAsDouble() > 0) {
        int slots = Math.max(0, entry.getValue()) * slotsPerReplica;
        perHour += price.getAsDouble() * slots;
        priced += slots;
      }
    }
    return Optional.of(new Rate(perHour, priced));
  }

  /** Cost of holding the replicas for so many milliseconds. */
  Cost of(double millis) {
    if (rate.priced() == 0) {
      return Cost.NONE;
    }
    double micros = rate.perHour() * millis * MICROS_PER_MILLI + restMicros;
    long whole = Math.round(micros);
    restMicros = micros - whole;
    return new Cost(whole, Math.round(rate.priced() * millis));
  }
}
