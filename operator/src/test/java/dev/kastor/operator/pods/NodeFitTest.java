package dev.kastor.operator.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeFitTest {
  private static final String TYPE = "kastor.dev/gpu-type";
  private static final List<Node> NODES =
      List.of(
          node(Map.of(TYPE, "a100", "pool", "research")),
          node(Map.of(TYPE, "a100", "pool", "research")),
          node(Map.of(TYPE, "h100", "pool", "research")),
          node(Map.of(TYPE, "h100", "pool", "serving")),
          node(Map.of("pool", "research")));

  @Test
  void aTypeSuitsIfAllOfItsNodesDo() {
    assertThat(NodeFit.types(Map.of("pool", "research"), NODES, TYPE)).containsExactly("", "a100");
    assertThat(NodeFit.types(Map.of(TYPE, "h100"), NODES, TYPE)).containsExactly("h100");
    assertThat(NodeFit.types(Map.of("pool", "none"), NODES, TYPE)).isEmpty();
  }

  private static Node node(Map<String, String> labels) {
    return new NodeBuilder().withNewMetadata().withLabels(labels).endMetadata().build();
  }
}
