package dev.kastor.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import org.jspecify.annotations.Nullable;

/** The JSON and YAML mappers of local mode, and access to the well-known fields of an object. */
public final class Json {
  public static final ObjectMapper MAPPER = new ObjectMapper();
  public static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private Json() {}

  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  public static String text(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a JSON tree could not be written", e);
    }
  }

  public static ObjectNode metadata(ObjectNode object) {
    return object.get("metadata") instanceof ObjectNode m ? m : object.putObject("metadata");
  }

  /** A text field of the metadata, or null. */
  public static @Nullable String meta(ObjectNode object, String field) {
    JsonNode value = object.path("metadata").get(field);
    return value == null || value.isNull() ? null : value.asText();
  }

  public static String name(ObjectNode object) {
    return object.path("metadata").path("name").asText();
  }

  public static String namespace(ObjectNode object) {
    return object.path("metadata").path("namespace").asText();
  }

  public static String uid(ObjectNode object) {
    return object.path("metadata").path("uid").asText();
  }
}
