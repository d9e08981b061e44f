package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Fills in the defaults of an OpenAPI schema, outer ones first so that they can open inner ones.
 */
final class Defaults {
  private Defaults() {}

  static void fill(JsonNode schema, JsonNode value) {
    if (value instanceof ObjectNode object) {
      for (var property : schema.path("properties").properties()) {
        String field = property.getKey();
        JsonNode inner = property.getValue();
        JsonNode now = object.get(field);
        boolean missing = now == null || (now.isNull() && !inner.path("nullable").asBoolean(false));
        if (missing && inner.has("default")) {
          object.set(field, inner.get("default").deepCopy());
        } else if (missing) {
          object.remove(field);
        }
        if (object.has(field)) {
          fill(inner, object.get(field));
        }
      }
      if (schema.get("additionalProperties") instanceof ObjectNode values) {
        object.forEach(child -> fill(values, child));
      }
    } else if (value instanceof ArrayNode list) {
      list.forEach(element -> fill(schema.path("items"), element));
    }
  }
}
