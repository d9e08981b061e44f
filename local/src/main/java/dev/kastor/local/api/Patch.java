package dev.kastor.local.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.zjsonpatch.JsonPatch;
import io.fabric8.zjsonpatch.JsonPatchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The kinds of patch that a client may send. */
enum Patch {
  /** RFC 6902. */
  JSON("application/json-patch+json"),
  /** RFC 7396. */
  MERGE("application/merge-patch+json"),
  /** Kubernetes' own; lists are replaced here, as for custom resources everywhere. */
  STRATEGIC("application/strategic-merge-patch+json"),
  /** Server-side apply. */
  APPLY("application/apply-patch+yaml");

  private static final ObjectReader STRICT =
      Json.MAPPER.reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private final String mediaType;

  Patch(String mediaType) {
    this.mediaType = mediaType;
  }

  static Patch of(String contentType) {
    for (Patch patch : values()) {
      if (contentType.startsWith(patch.mediaType)) {
        return patch;
      }
    }
    throw ApiException.of(
        415, "UnsupportedMediaType", "patch of media type '%s'".formatted(contentType));
  }

  /** Reads JSON, or else YAML, which forbids characters that JSON allows. */
  static JsonNode parse(byte[] body) {
    try {
      return STRICT.readTree(body);
    } catch (IOException e) {
      // YAML, or nothing that is known.
    }
    try {
      return Json.YAML.readTree(new String(body, StandardCharsets.UTF_8));
    } catch (JsonProcessingException e) {
      throw ApiException.badRequest("the body is neither JSON nor YAML: " + e.getOriginalMessage());
    }
  }

  static ObjectNode json(ObjectNode current, JsonNode patch) {
    if (!(patch instanceof ArrayNode)) {
      throw ApiException.badRequest("a JSON patch must be a list");
    }
    try {
      return (ObjectNode) JsonPatch.apply(patch, current.deepCopy());
    } catch (JsonPatchException | ClassCastException e) {
      throw ApiException.of(422, "Invalid", "the server rejected our request: " + e.getMessage());
    }
  }

  /** RFC 7396: null removes, objects merge, all else replaces. */
  static ObjectNode merge(ObjectNode current, ObjectNode patch) {
    ObjectNode result = current.deepCopy();
    patch
        .properties()
        .forEach(entry -> {
          JsonNode value = entry.getValue();
          String field = entry.getKey();
          if (value.isNull()) {
            result.remove(field);
          } else if (value instanceof ObjectNode inner) {
            ObjectNode base = result.get(field) instanceof ObjectNode o ? o : Json.object();
            result.set(field, merge(base, inner));
          } else {
            result.set(field, value);
          }
        });
    return result;
  }
}
