package dev.kastor.operator.usage;

import java.util.OptionalDouble;

/** Prices of slots, by node. */
@FunctionalInterface
interface SlotPrices {
  /** Price of a slot in an hour, 0 if the node tells none; empty if there is no such node. */
  OptionalDouble perHour(String node);
}
