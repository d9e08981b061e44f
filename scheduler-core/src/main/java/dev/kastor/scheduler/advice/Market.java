package dev.kastor.scheduler.advice;

import java.util.List;

/**
 * What a slot of each type costs: its share of its node's price, or 1 on all types where the price
 * of any of them is not known.
 */
final class Market {
  private final List<NodeType> types;
  private final boolean priced;

  Market(List<NodeType> types) {
    this.types = List.copyOf(types);
    priced = !types.isEmpty() && types.stream().allMatch(type -> type.pricePerHour() > 0);
  }

  List<NodeType> types() {
    return types;
  }

  /** Whether costs are money. */
  boolean priced() {
    return priced;
  }

  double slotCost(NodeType type) {
    return priced ? type.pricePerHour() / type.slots() : 1;
  }

  double nodeCost(NodeType type) {
    return slotCost(type) * type.slots();
  }
}
