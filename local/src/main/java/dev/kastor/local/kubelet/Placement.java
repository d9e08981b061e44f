package dev.kastor.local.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.local.api.Json;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.StreamSupport;

/** Which node a pod goes to: the first that its affinity allows and that has room. */
final class Placement {
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");
  private static final String TERMS =
      "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

  private Placement() {}

  static Optional<String> choose(
      ObjectNode pod, Collection<ObjectNode> nodes, Collection<ObjectNode> pods) {
    return nodes.stream()
        .filter(n -> allows(pod, n))
        .filter(n -> free(n, pods) >= slots(pod))
        .map(Json::name)
        .findFirst();
  }

  private static long free(ObjectNode node, Collection<ObjectNode> pods) {
    long taken =
        pods.stream()
            .filter(p -> p.at("/spec/nodeName").asText().equals(Json.name(node)))
            .filter(p -> !ENDED.contains(p.at("/status/phase").asText()))
            .mapToLong(Placement::slots)
            .sum();
    return node.path("status").path("allocatable").path(LocalNode.SLOT).asLong() - taken;
  }

  static long slots(ObjectNode pod) {
    long slots = 0;
    for (JsonNode container : pod.at("/spec/containers")) {
      slots += container.path("resources").path("limits").path(LocalNode.SLOT).asLong();
    }
    return slots;
  }

  private static boolean allows(ObjectNode pod, ObjectNode node) {
    JsonNode labels = node.path("metadata").path("labels");
    boolean selected =
        pod.at("/spec/nodeSelector").properties().stream()
            .allMatch(e -> labels.path(e.getKey()).asText().equals(e.getValue().asText()));
    JsonNode terms = pod.at(TERMS);
    return selected
        && (terms.isEmpty()
            || StreamSupport.stream(terms.spliterator(), false).anyMatch(t -> matches(t, labels)));
  }

  private static boolean matches(JsonNode term, JsonNode labels) {
    for (JsonNode expression : term.path("matchExpressions")) {
      JsonNode label = labels.get(expression.path("key").asText());
      List<String> values =
          StreamSupport.stream(expression.path("values").spliterator(), false)
              .map(JsonNode::asText)
              .toList();
      boolean in = label != null && values.contains(label.asText());
      boolean match =
          switch (expression.path("operator").asText()) {
            case "In" -> in;
            case "NotIn" -> !in;
            case "Exists" -> label != null;
            case "DoesNotExist" -> label == null;
            default -> false;
          };
      if (!match) {
        return false;
      }
    }
    return true;
  }
}
