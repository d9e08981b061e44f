package dev.kastor.local.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verbs of the API on plain JSON objects, with what a server does around them: names, uids,
 * revisions, generations, the status subresource, finalizers, graceful deletion of pods and the
 * collection of dependents.
 *
 * <p>Thread-safe. Returned objects are shared and must not be modified.
 */
public final class Resources {
  private static final Logger LOG = LoggerFactory.getLogger(Resources.class);
  private static final int MOST_EVENTS = 2_000;
  private static final String SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

  private final ResourceTypes types = new ResourceTypes();
  private final Store store = new Store();
  private final FieldOwnership ownership = new FieldOwnership();
  private final Map<ResourceType, CustomType> customTypes = new ConcurrentHashMap<>();

  public ResourceTypes types() {
    return types;
  }

  Store store() {
    return store;
  }

  /** What a CRD says of a type; empty for a built-in one. */
  Optional<CustomType> custom(ResourceType type) {
    return Optional.ofNullable(customTypes.get(type));
  }

  /** The object, or null. */
  public @Nullable ObjectNode find(ResourceType type, String namespace, String name) {
    return store.get(type, namespace, name);
  }

  /**
   * The object.
   *
   * @throws ApiException with code 404
   */
  public ObjectNode get(ResourceType type, String namespace, String name) {
    ObjectNode found = find(type, namespace, name);
    if (found == null) {
      throw ApiException.notFound(type, name);
    }
    return found;
  }

  /** Objects of a type; those of all namespaces when {@code namespace} is empty. */
  public List<ObjectNode> list(ResourceType type, String namespace) {
    return store.list(type, namespace);
  }

  /** The newest revision; grows with every change. */
  public long revision() {
    return store.revision();
  }

  /** Waits for a change of a type after a revision; at most {@code patience}. */
  public void awaitChange(ResourceType type, long after, Duration patience)
      throws InterruptedException {
    store.awaitAfter(type, after, patience);
  }

  /** Stores a new object. */
  public ObjectNode create(ResourceType type, String namespace, ObjectNode body, Options options) {
    return store.atomically(() -> {
      ObjectNode object = body.deepCopy();
      prepare(type, namespace, object);
      String name = Json.name(object);
      if (find(type, namespace, name) != null) {
        throw ApiException.alreadyExists(type, name);
      }
      CustomType custom = customTypes.get(type);
      if (custom != null) {
        object.remove("status");
        object = custom.admit(object, null, options.strict());
      } else if (type.equals(ResourceTypes.POD)) {
        object.putObject("status").put("phase", "Pending");
      } else if (type.equals(ResourceTypes.SECRET)) {
        Secrets.encode(object);
      }
      List<CustomType> defined = type.equals(ResourceTypes.CRD) ? CustomType.of(object) : List.of();
      if (options.dryRun()) {
        return object;
      }
      if (type.equals(ResourceTypes.CRD)) {
        define(object, defined);
      }
      if (options.applyAs() != null) {
        keepOwnership(object);
        ownership.apply(object, appliedPart(type, body, false), options.applyAs());
      }
      ObjectNode stored = store.put(type, object);
      collectOrphan(type, stored);
      if (type.equals(ResourceTypes.EVENT)) {
        dropOldestEvents();
      }
      return stored;
    });
  }

  /** Replaces an object, or with {@code options.status} its status only. */
  public ObjectNode update(
      ResourceType type, String namespace, String name, ObjectNode body, Options options) {
    return store.atomically(() -> replace(type, get(type, namespace, name), body, options));
  }

  /** Changes an object by a patch; server-side apply creates what is missing. */
  ObjectNode patch(
      ResourceType type,
      String namespace,
      String name,
      Patch patch,
      JsonNode body,
      Options options) {
    return store.atomically(() -> {
      ObjectNode current = find(type, namespace, name);
      if (patch == Patch.JSON) {
        ObjectNode now = get(type, namespace, name);
        return replace(type, now, Patch.json(now, body), options);
      }
      if (!(body instanceof ObjectNode object)) {
        throw ApiException.badRequest("the patch must be an object");
      }
      if (patch != Patch.APPLY) {
        ObjectNode now = get(type, namespace, name);
        return replace(type, now, Patch.merge(now, object), options);
      }
      String manager = options.applyAs();
      if (manager == null) {
        throw ApiException.badRequest("fieldManager: Required value: is required for apply patch");
      }
      if (current == null && !options.status()) {
        Json.metadata(object).put("name", name);
        return create(type, namespace, object, options);
      }
      ObjectNode now = get(type, namespace, name);
      Revision.check(type, now, object);
      ObjectNode wanted = appliedPart(type, object, options.status());
      String owner = manager + (options.status() ? "/status" : "");
      keepOwnership(now);
      return replace(type, now, ownership.apply(now, wanted, owner), options);
    });
  }

  /** Deletes an object, gracefully where it has finalizers or is a running pod. */
  public ObjectNode delete(ResourceType type, String namespace, String name, Deletion deletion) {
    return store.atomically(() -> {
      ObjectNode current = get(type, namespace, name);
      deletion.check(type, current);
      long grace = Deletions.graceSeconds(type, current, deletion);
      if (grace == 0 && !Deletions.hasFinalizers(current)) {
        remove(type, current, deletion.orphan());
        return current;
      }
      ObjectNode marked = Deletions.mark(current, grace);
      return marked.equals(current) ? current : store.put(type, marked);
    });
  }

  private ObjectNode replace(
      ResourceType type, ObjectNode current, ObjectNode body, Options options) {
    Revision.check(type, current, body);
    ObjectNode next = options.status() ? current.deepCopy() : body.deepCopy();
    if (options.status()) {
      next.set("status", body.path("status").isObject() ? body.get("status") : Json.object());
    } else if (type.status()) {
      JsonNode status = current.get("status");
      if (status == null) {
        next.remove("status");
      } else {
        next.set("status", status);
      }
    }
    keepIdentity(type, current, next);
    CustomType custom = customTypes.get(type);
    if (custom != null) {
      next = custom.admit(next, current, options.strict());
    } else if (type.equals(ResourceTypes.SECRET)) {
      Secrets.encode(next);
    }
    if (next.equals(current) || options.dryRun()) {
      return next;
    }
    if (!options.status() && !desired(next).equals(desired(current))) {
      ObjectNode metadata = Json.metadata(next);
      metadata.put("generation", metadata.path("generation").asLong(1) + 1);
    }
    if (type.equals(ResourceTypes.CRD)) {
      define(next, CustomType.of(next));
    }
    if (Json.meta(next, "deletionTimestamp") != null
        && !Deletions.hasFinalizers(next)
        && Deletions.graceOver(type, next)) {
      remove(type, next, false);
      return next;
    }
    return store.put(type, next);
  }

  private void prepare(ResourceType type, String namespace, ObjectNode object) {
    object.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    ObjectNode metadata = Json.metadata(object);
    if (Json.meta(object, "name") == null) {
      String prefix = Json.meta(object, "generateName");
      if (prefix == null) {
        throw ApiException.invalid(type, "", List.of(FieldError.required("metadata.name")));
      }
      metadata.put("name", prefix + suffix());
    }
    Names.check(type, metadata.path("name").asText());
    if (type.namespaced()) {
      metadata.put("namespace", namespace);
    } else {
      metadata.remove("namespace");
    }
    metadata.remove(List.of("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"));
    metadata.put("uid", UUID.randomUUID().toString());
    metadata.put("creationTimestamp", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    metadata.put("generation", 1);
    metadata.remove("resourceVersion");
  }

  private static void keepIdentity(ResourceType type, ObjectNode current, ObjectNode next) {
    next.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    ObjectNode metadata = Json.metadata(next);
    metadata.remove("managedFields");
    for (String field :
        List.of(
            "name",
            "namespace",
            "uid",
            "creationTimestamp",
            "generation",
            "resourceVersion",
            "deletionTimestamp",
            "deletionGracePeriodSeconds")) {
      JsonNode value = current.path("metadata").get(field);
      if (value == null) {
        metadata.remove(field);
      } else {
        metadata.set(field, value);
      }
    }
  }

  private static ObjectNode desired(ObjectNode object) {
    ObjectNode desired = object.deepCopy();
    desired.remove(List.of("metadata", "status"));
    return desired;
  }

  /** What an apply request can own: not identity, and status only through the subresource. */
  private static ObjectNode appliedPart(ResourceType type, ObjectNode body, boolean status) {
    ObjectNode part = body.deepCopy();
    part.remove(List.of("apiVersion", "kind"));
    if (status) {
      part.retain("status");
      return part;
    }
    if (type.status()) {
      part.remove("status");
    }
    if (part.get("metadata") instanceof ObjectNode metadata) {
      metadata.retain("labels", "annotations", "finalizers", "ownerReferences");
    }
    return part;
  }

  private void define(ObjectNode crd, List<CustomType> defined) {
    for (CustomType custom : defined) {
      customTypes.put(custom.type(), custom);
      types.add(custom.type());
    }
    ObjectNode status = crd.putObject("status");
    status.set("acceptedNames", crd.at("/spec/names"));
    ArrayNode conditions = status.putArray("conditions");
    for (String condition : List.of("NamesAccepted", "Established")) {
      conditions.addObject().put("type", condition).put("status", "True").put("reason", "Local");
    }
  }

  private void remove(ResourceType type, ObjectNode object, boolean orphan) {
    store.remove(type, object);
    String uid = Json.uid(object);
    keepOwnership(object);
    ownership.forget(uid);
    for (Store.Owned owned : store.ownedBy(uid)) {
      if (orphan) {
        store.put(owned.type(), Deletions.withoutOwner(owned.object(), uid));
      } else {
        collectOrphan(owned.type(), owned.object());
      }
    }
  }

  /** Deletes an object that names owners of which none exists. */
  private void collectOrphan(ResourceType type, ObjectNode object) {
    List<String> owners = new ArrayList<>(Store.owners(object));
    if (!owners.isEmpty() && owners.stream().noneMatch(store::hasUid)) {
      delete(type, Json.namespace(object), Json.name(object), Deletion.DEFAULT);
    }
  }

  /** What a crash between an owner's removal and that of its dependents has left. */
  void collectOrphans(Predicate<ResourceType> kept) {
    for (ResourceType type : types.all()) {
      if (kept.test(type)) {
        for (ObjectNode object : list(type, "")) {
          try {
            store.atomically(() -> {
              collectOrphan(type, object);
              return object;
            });
          } catch (ApiException e) {
            LOG.warn("{} outlives its owner: {}", Json.name(object), e.getMessage());
          }
        }
      }
    }
  }

  /** A real server drops events after an hour; what months of them take here is bounded too. */
  private void dropOldestEvents() {
    List<ObjectNode> events = list(ResourceTypes.EVENT, "");
    events.stream()
        .sorted(Comparator.comparingLong(e -> e.at("/metadata/resourceVersion").asLong()))
        .limit(Math.max(0, events.size() - MOST_EVENTS))
        .forEach(event -> remove(ResourceTypes.EVENT, event, false));
  }

  private void keepOwnership(ObjectNode object) {
    String uid = Json.uid(object);
    Map<String, ObjectNode> before = ownership.of(uid);
    store.onUndo(() -> ownership.restore(uid, before));
  }

  private static String suffix() {
    RandomGenerator random = RandomGenerator.getDefault();
    StringBuilder suffix = new StringBuilder();
    for (int i = 0; i < 5; i++) {
      suffix.append(SUFFIX_LETTERS.charAt(random.nextInt(SUFFIX_LETTERS.length())));
    }
    return suffix.toString();
  }
}
