package dev.kastor.agent.operator;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON form of protocol records; fields that a newer operator adds are ignored. */
public final class WireJson {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
          .build();

  private WireJson() {}

  /** A record as JSON in UTF-8. */
  public static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException("protocol records always have a JSON form", e);
    }
  }

  /** Reads and validates a record. */
  public static <T> T read(byte[] json, Class<T> type) throws IOException {
    T value = MAPPER.readValue(json, type);
    if (value == null) {
      throw new IOException("null is no " + type.getSimpleName());
    }
    return value;
  }

  /** Reads any JSON document. */
  public static JsonNode tree(String json) throws JsonProcessingException {
    return MAPPER.readTree(json);
  }

  /**
   * A free-form object as maps, lists, texts and numbers; null where there is none.
   *
   * @throws IllegalArgumentException if it is something else than an object
   */
  public static @Nullable Map<String, Object> freeForm(JsonNode node) {
    return node.isMissingNode() || node.isNull()
        ? null
        : MAPPER.convertValue(node, new TypeReference<Map<String, Object>>() {});
  }
}
