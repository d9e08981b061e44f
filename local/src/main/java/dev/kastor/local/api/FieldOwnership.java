package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Server-side apply: remembers what each field manager applied, so that what it leaves out the next
 * time is removed.
 *
 * <p>A real server also refuses to overwrite another manager's field without {@code force}; here
 * the last one wins. Lists are atomic but for {@code metadata.finalizers}, a set, and {@code
 * metadata.ownerReferences}, a map by uid. Guarded by the store's lock.
 */
final class FieldOwnership {
  private final Map<String, Map<String, ObjectNode>> applied = new HashMap<>();

  /** The object after {@code manager} applied {@code wanted}. */
  ObjectNode apply(ObjectNode current, ObjectNode wanted, String manager) {
    ObjectNode clean = withoutNulls(wanted);
    Map<String, ObjectNode> managers =
        applied.computeIfAbsent(Json.uid(current), u -> new HashMap<>());
    ObjectNode before = managers.put(manager, clean);
    ObjectNode result = current.deepCopy();
    if (before != null) {
      removeLeftOut(result, before, clean);
    }
    overlay(result, clean, "");
    return result;
  }

  void forget(String uid) {
    applied.remove(uid);
  }

  /** What each manager applied to an object. */
  Map<String, ObjectNode> of(String uid) {
    return Map.copyOf(applied.getOrDefault(uid, Map.of()));
  }

  /** Puts back what {@link #of} gave. */
  void restore(String uid, Map<String, ObjectNode> managers) {
    if (managers.isEmpty()) {
      applied.remove(uid);
    } else {
      applied.put(uid, new HashMap<>(managers));
    }
  }

  private static ObjectNode withoutNulls(ObjectNode node) {
    ObjectNode result = Json.object();
    node.properties()
        .forEach(e -> {
          if (e.getValue() instanceof ObjectNode inner) {
            result.set(e.getKey(), withoutNulls(inner));
          } else if (!e.getValue().isNull()) {
            result.set(e.getKey(), e.getValue());
          }
        });
    return result;
  }

  private static void removeLeftOut(ObjectNode current, ObjectNode before, ObjectNode wanted) {
    for (var entry : before.properties()) {
      String field = entry.getKey();
      JsonNode now = current.get(field);
      JsonNode then = entry.getValue();
      JsonNode next = wanted.get(field);
      if (now == null) {
        continue;
      }
      if (then instanceof ObjectNode thenObject && now instanceof ObjectNode nowObject) {
        ObjectNode nextObject = next instanceof ObjectNode o ? o : Json.object();
        removeLeftOut(nowObject, thenObject, nextObject);
        if (next == null && nowObject.isEmpty()) {
          current.remove(field);
        }
      } else if (then instanceof ArrayNode thenList && now instanceof ArrayNode nowList) {
        List<JsonNode> kept = new ArrayList<>();
        nowList.forEach(kept::add);
        thenList.forEach(element -> {
          if (next == null || !contains(next, element)) {
            kept.remove(element);
          }
        });
        nowList.removeAll().addAll(kept);
        if (next == null && nowList.isEmpty()) {
          current.remove(field);
        }
      } else if (next == null) {
        current.remove(field);
      }
    }
  }

  private static void overlay(ObjectNode current, ObjectNode wanted, String path) {
    for (var entry : wanted.properties()) {
      String field = entry.getKey();
      JsonNode value = entry.getValue();
      JsonNode now = current.get(field);
      if (value instanceof ObjectNode inner) {
        ObjectNode target = now instanceof ObjectNode o ? o : current.putObject(field);
        overlay(target, inner, path + "/" + field);
      } else if (value instanceof ArrayNode list
          && now instanceof ArrayNode nowList
          && path.equals("/metadata")) {
        list.forEach(element -> addTo(nowList, element));
      } else {
        current.set(field, value.deepCopy());
      }
    }
  }

  private static void addTo(ArrayNode list, JsonNode element) {
    for (int i = 0; i < list.size(); i++) {
      JsonNode uid = element.get("uid");
      if (list.get(i).equals(element) || (uid != null && uid.equals(list.get(i).get("uid")))) {
        list.set(i, element.deepCopy());
        return;
      }
    }
    list.add(element.deepCopy());
  }

  private static boolean contains(@Nullable JsonNode list, JsonNode element) {
    if (list != null) {
      for (JsonNode e : list) {
        if (e.equals(element)) {
          return true;
        }
      }
    }
    return false;
  }
}
