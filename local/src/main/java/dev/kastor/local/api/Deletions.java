package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;

/** The rules of deletion: grace periods of pods, finalizers, owner references. */
final class Deletions {
  private static final long DEFAULT_GRACE_SECONDS = 30;
  private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

  private Deletions() {}

  /** Seconds that the kubelet has; only a pod that was placed and has not ended gets any. */
  static long graceSeconds(ResourceType type, ObjectNode object, Deletion deletion) {
    if (!type.equals(ResourceTypes.POD)
        || object.at("/spec/nodeName").asText("").isEmpty()
        || ENDED.contains(object.at("/status/phase").asText())) {
      return 0;
    }
    Long asked = deletion.graceSeconds();
    return asked != null
        ? asked
        : object.at("/spec/terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS);
  }

  static boolean hasFinalizers(ObjectNode object) {
    return !object.path("metadata").path("finalizers").isEmpty();
  }

  /** Whether an object that is being deleted may go once its finalizers are gone. */
  static boolean graceOver(ResourceType type, ObjectNode object) {
    return !type.equals(ResourceTypes.POD)
        || object.at("/metadata/deletionGracePeriodSeconds").asLong(0) == 0;
  }

  static ObjectNode mark(ObjectNode object, long graceSeconds) {
    ObjectNode marked = object.deepCopy();
    ObjectNode metadata = Json.metadata(marked);
    boolean sooner =
        !metadata.has("deletionTimestamp")
            || graceSeconds < metadata.path("deletionGracePeriodSeconds").asLong(0);
    if (sooner) {
      metadata.put(
          "deletionTimestamp",
          Instant.now().plusSeconds(graceSeconds).truncatedTo(ChronoUnit.SECONDS).toString());
      metadata.put("deletionGracePeriodSeconds", graceSeconds);
    }
    return marked;
  }

  static ObjectNode withoutOwner(ObjectNode object, String uid) {
    ObjectNode copy = object.deepCopy();
    ObjectNode metadata = Json.metadata(copy);
    ArrayNode kept = metadata.arrayNode();
    for (JsonNode reference : metadata.path("ownerReferences")) {
      if (!reference.path("uid").asText().equals(uid)) {
        kept.add(reference);
      }
    }
    metadata.set("ownerReferences", kept);
    return copy;
  }
}
