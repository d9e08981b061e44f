package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Optimistic concurrency: a write that names a revision or uid must name the current one. */
final class Revision {
  private Revision() {}

  static void check(ResourceType type, ObjectNode current, ObjectNode body) {
    String revision = Json.meta(body, "resourceVersion");
    if (revision != null
        && !revision.isEmpty()
        && !revision.equals(Json.meta(current, "resourceVersion"))) {
      throw ApiException.conflict(
          type,
          Json.name(current),
          "the object has been modified; please apply your changes to the latest version and try"
              + " again");
    }
    String uid = Json.meta(body, "uid");
    if (uid != null && !uid.isEmpty() && !uid.equals(Json.uid(current))) {
      throw ApiException.conflict(
          type,
          Json.name(current),
          "Precondition failed: UID in precondition: %s, UID in object meta: %s"
              .formatted(uid, Json.uid(current)));
    }
  }
}
