package dev.kastor.operator.nodes;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a Node object's labels and annotations tell beyond its type: where it stands, whether it may
 * be taken away, what it costs, and whether its slots share devices.
 *
 * @param rack label {@code kastor.dev/rack}, else {@code topology.kubernetes.io/rack}, else empty
 * @param preemptible label {@code kastor.dev/preemptible}, else whether a provider's label says so
 * @param pricePerHour annotation {@code kastor.dev/price-per-hour}; 0 if there is none, or none
 *     that is a price
 * @param slotsPerDevice slots that share a GPU or core: label {@code kastor.dev/slots-per-device},
 *     else what NVIDIA's GPU feature discovery labels where GPUs are time-sliced; 1 if there is
 *     none, or none that is a number of at least 1
 */
public record NodeTraits(
    String rack, boolean preemptible, double pricePerHour, double slotsPerDevice) {
  public static final String PRICE = "kastor.dev/price-per-hour";

  private static final List<String> RACKS =
      List.of("kastor.dev/rack", "topology.kubernetes.io/rack");
  private static final String PREEMPTIBLE = "kastor.dev/preemptible";
  private static final String SLOTS_PER_DEVICE = "kastor.dev/slots-per-device";
  private static final String SHARING = "nvidia.com/gpu.sharing-strategy";
  private static final String SHARED_BY = "nvidia.com/gpu.replicas";

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
    return new NodeTraits(
        rack,
        preemptible,
        number(orEmpty(node.getAnnotations()).get(PRICE)),
        Math.max(1, number(slotsPerDevice(labels))));
  }

  /** Labels and annotations whose numbers cannot be read, or are none that a node can have. */
  public static List<String> unreadable(ObjectMeta node) {
    List<String> keys = new ArrayList<>();
    String price = orEmpty(node.getAnnotations()).get(PRICE);
    if (price != null && !(number(price) > 0) && !price.strip().matches("0+(\\.0*)?")) {
      keys.add("annotation " + PRICE);
    }
    String shared = orEmpty(node.getLabels()).get(SLOTS_PER_DEVICE);
    if (shared != null && number(shared) < 1) {
      keys.add("label " + SLOTS_PER_DEVICE);
    }
    return keys;
  }

  /** MPS, the other way to share, gives each client a part of the GPU: a device of its own. */
  private static @Nullable String slotsPerDevice(Map<String, String> labels) {
    String said = labels.get(SLOTS_PER_DEVICE);
    return said == null && "time-slicing".equals(labels.get(SHARING))
        ? labels.get(SHARED_BY)
        : said;
  }

  /** A positive number; 0 for anything else. */
  private static double number(@Nullable String text) {
    if (text == null) {
      return 0;
    }
    try {
      double number = Double.parseDouble(text.strip());
      return number > 0 && number < Double.POSITIVE_INFINITY ? number : 0;
    } catch (NumberFormatException e) {
      // Such numbers are advice: a node without one is used like any other.
      return 0;
    }
  }

  private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
    return map == null ? Map.of() : map;
  }
}
