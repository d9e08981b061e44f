package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * How an object is deleted.
 *
 * @param graceSeconds seconds that a pod gets to end; null for its own setting
 * @param orphan whether dependents stay
 * @param uid the uid that the object must have; null for any
 * @param resourceVersion the revision that the object must have; null for any
 */
public record Deletion(
    @Nullable Long graceSeconds,
    boolean orphan,
    @Nullable String uid,
    @Nullable String resourceVersion) {
  /** Dependents go too, pods get their own grace period. */
  public static final Deletion DEFAULT = new Deletion(null, false, null, null);

  /** At once. */
  public static final Deletion NOW = new Deletion(0L, false, null, null);

  static Deletion of(ObjectNode body, @Nullable String grace, @Nullable String propagation) {
    String policy = propagation != null ? propagation : body.path("propagationPolicy").asText("");
    Long seconds =
        grace != null
            ? Long.valueOf(grace)
            : body.hasNonNull("gracePeriodSeconds")
                ? Long.valueOf(body.get("gracePeriodSeconds").asLong())
                : null;
    return new Deletion(
        seconds,
        policy.equals("Orphan"),
        body.at("/preconditions/uid").asText(null),
        body.at("/preconditions/resourceVersion").asText(null));
  }

  void check(ResourceType type, ObjectNode current) {
    if ((uid != null && !uid.equals(Json.uid(current)))
        || (resourceVersion != null
            && !resourceVersion.equals(Json.meta(current, "resourceVersion")))) {
      throw ApiException.conflict(type, Json.name(current), "a precondition is not met");
    }
  }
}
