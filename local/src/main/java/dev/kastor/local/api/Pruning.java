package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;

/** Removes the fields that a schema does not know. */
final class Pruning {
  private static final Set<String> ENVELOPE = Set.of("apiVersion", "kind", "metadata");

  private Pruning() {}

  static void prune(
      JsonNode schema, JsonNode value, String path, boolean root, List<String> unknown) {
    if (schema.path("x-kubernetes-preserve-unknown-fields").asBoolean(false)) {
      return;
    }
    if (value instanceof ObjectNode object) {
      JsonNode properties = schema.path("properties");
      JsonNode additional = schema.path("additionalProperties");
      for (String field : object.propertyStream().map(e -> e.getKey()).toList()) {
        String at = path.isEmpty() ? field : path + "." + field;
        if (root && ENVELOPE.contains(field)) {
          continue;
        }
        if (properties.has(field)) {
          prune(properties.get(field), object.get(field), at, false, unknown);
        } else if (additional.isObject()) {
          prune(additional, object.get(field), at, false, unknown);
        } else if (!additional.asBoolean(false)) {
          object.remove(field);
          unknown.add(at);
        }
      }
    } else if (value instanceof ArrayNode list) {
      for (int i = 0; i < list.size(); i++) {
        prune(schema.path("items"), list.get(i), path + "[" + i + "]", false, unknown);
      }
    }
  }
}
