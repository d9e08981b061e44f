package dev.kastor.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import org.jspecify.annotations.Nullable;

/** The one JSON and the one YAML mapper of the server, and access to well-known fields. */
final class Json {
  static final ObjectMapper MAPPER = new ObjectMapper();
  static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private Json() {}

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  static String text(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a JSON tree could not be written", e);
    }
  }

  static ObjectNode metadata(ObjectNode object) {
    return object.get("metadata") instanceof ObjectNode m ? m : object.putObject("metadata");
  }

  /** A text field of the metadata, or null. */
  static @Nullable String meta(ObjectNode object, String field) {
    JsonNode value = object.path("metadata").get(field);
    return value == null || value.isNull() ? null : value.asText();
  }

  static String name(ObjectNode object) {
    return object.path("metadata").path("name").asText();
  }

  static String namespace(ObjectNode object) {
    return object.path("metadata").path("namespace").asText();
  }

  static String uid(ObjectNode object) {
    return object.path("metadata").path("uid").asText();
  }
}
