package dev.kastor.operator.nodes;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a Node object's labels and annotations tell beyond its type: where it stands, whether it may
 * be taken away, and what it costs.
 *
 * @param rack label {@code kastor.dev/rack}, else {@code topology.kubernetes.io/rack}, else empty
 * @param preemptible label {@code kastor.dev/preemptible}, else whether a provider's label says so
 * @param pricePerHour annotation {@code kastor.dev/price-per-hour}; 0 if there is none, or none
 *     that is a price
 */
public record NodeTraits(String rack, boolean preemptible, double pricePerHour) {
  public static final String PRICE = "kastor.dev/price-per-hour";

  private static final List<String> RACKS =
      List.of("kastor.dev/rack", "topology.kubernetes.io/rack");
  private static final String PREEMPTIBLE = "kastor.dev/preemptible";

  /** How providers and autoscalers mark nodes that they may take away. */
  private static final Map<String, String> SPOT =
      Map.of(
          "karpenter.sh/capacity-type", "spot",
          "cloud.google.com/gke-spot", "true",
          "cloud.google.com/gke-preemptible", "true",
          "kubernetes.azure.com/scalesetpriority", "spot",
          "eks.amazonaws.com/capacityType", "spot");

  public static NodeTraits of(ObjectMeta node) {
    Map<String, String> labels = orEmpty(node.getLabels());
    String rack =
        RACKS.stream()
            .map(key -> labels.getOrDefault(key, ""))
            .filter(r -> !r.isBlank())
            .findFirst()
            .orElse("");
    String said = labels.get(PREEMPTIBLE);
    boolean preemptible =
        said != null
            ? said.equalsIgnoreCase("true")
            : SPOT.entrySet().stream()
                .anyMatch(sign -> sign.getValue().equalsIgnoreCase(labels.get(sign.getKey())));
    return new NodeTraits(rack, preemptible, price(orEmpty(node.getAnnotations()).get(PRICE)));
  }

  /** Whether the node has a price that cannot be read. */
  public static boolean hasBadPrice(ObjectMeta node) {
    String text = orEmpty(node.getAnnotations()).get(PRICE);
    return text != null && !(price(text) > 0) && !text.strip().matches("0+(\\.0*)?");
  }

  private static double price(@Nullable String text) {
    if (text == null) {
      return 0;
    }
    try {
      double price = Double.parseDouble(text.strip());
      return price > 0 && price < Double.POSITIVE_INFINITY ? price : 0;
    } catch (NumberFormatException e) {
      // A price is advice: a node without one is used like any other.
      return 0;
    }
  }

  private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
    return map == null ? Map.of() : map;
  }
}
