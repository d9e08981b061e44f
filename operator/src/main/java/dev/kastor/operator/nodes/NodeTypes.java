package dev.kastor.operator.nodes;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** GPU types of nodes, by the label that the settings name. */
@Singleton
public final class NodeTypes {
  private final ClusterCache cache;
  private final String label;

  public NodeTypes(ClusterCache cache, OperatorConfig config) {
    this.cache = cache;
    label = config.gpuTypeLabel();
  }

  /** GPU type of a node; empty without the label, and for a node that is gone. */
  public String of(@Nullable String node) {
    return node == null ? "" : cache.node(node).map(known -> of(known, label)).orElse("");
  }

  /** GPU type of replicas on these nodes, as {@link dev.kastor.protocol.Member#gpuType} has it. */
  public String of(List<String> nodes) {
    return nodes.stream()
        .map(this::of)
        .filter(type -> !type.isEmpty())
        .distinct()
        .sorted()
        .collect(Collectors.joining("+"));
  }

  public static String of(Node node, String label) {
    Map<String, String> labels = node.getMetadata().getLabels();
    return labels == null ? "" : labels.getOrDefault(label, "");
  }
}
