package dev.kastor.operator.usage;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.nodes.NodeTraits;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Prices of slots as Node objects tell them: the price of the node over all its slots. Thread-safe.
 */
@Singleton
final class NodePrices implements SlotPrices {
  private final ClusterCache cache;
  private final SlotCount slots;
  private Map<String, Double> known = Map.of();

  NodePrices(ClusterCache cache, OperatorConfig config) {
    this.cache = cache;
    slots = new SlotCount(config.slotResource());
  }

  @Override
  public OptionalDouble perHour(String node) {
    return cache.node(node).map(this::price).map(OptionalDouble::of).orElse(OptionalDouble.empty());
  }

  /** Whether any price is another than at the last call. */
  synchronized boolean changed() {
    Map<String, Double> now = new HashMap<>();
    for (Node node : cache.nodes()) {
      double price = price(node);
      if (price > 0) {
        now.put(node.getMetadata().getName(), price);
      }
    }
    boolean changed = !now.equals(known);
    known = now;
    return changed;
  }

  private double price(Node node) {
    double price = NodeTraits.of(node.getMetadata()).pricePerHour();
    int count = node.getStatus() == null ? 0 : slots.allocatable(node);
    return price > 0 && count > 0 ? price / count : 0;
  }
}
