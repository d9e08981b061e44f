package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All objects, the revision counter and the recent changes that watches resume from.
 *
 * <p>Stored objects are never modified, only replaced. Every method takes the same re-entrant lock;
 * a read-modify-write runs inside {@link #atomically}.
 */
final class Store {
  /**
   * Changes that are kept; a watch that asks for an older revision must list again. Each holds a
   * whole object, 10 to 20 KB for a job.
   */
  private static final int HISTORY = 2_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<ResourceType, SortedMap<String, ObjectNode>> objects = new HashMap<>();
  private final Map<String, ObjectNode> byUid = new HashMap<>();
  private final Deque<Change> history = new ArrayDeque<>();
  private final List<Change> open = new ArrayList<>();
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private Consumer<List<Change>> journal = changes -> {};
  private long revision = 1;

  /** Changes after this revision are in the history. */
  private long oldest;

  private boolean closed;

  /**
   * Lets a journal have all changes of an action, under the lock and before anybody else sees one.
   * What it throws undoes the action.
   */
  void keepIn(Consumer<List<Change>> newJournal) {
    lock.lock();
    try {
      journal = newJournal;
    } finally {
      lock.unlock();
    }
  }

  /** Puts an object back as it was, with its revision; for the start only. */
  void restore(ResourceType type, ObjectNode object) {
    lock.lock();
    try {
      ofType(type).put(key(Json.namespace(object), Json.name(object)), object);
      byUid.put(Json.uid(object), object);
      String stored = Json.meta(object, "resourceVersion");
      revision = Math.max(revision, stored == null ? 0 : Long.parseLong(stored));
      oldest = revision;
    } finally {
      lock.unlock();
    }
  }

  /** Does all of an action, or nothing of it if it throws or its changes cannot be kept. */
  <T> T atomically(Supplier<T> action) {
    lock.lock();
    boolean outermost = lock.getHoldCount() == 1;
    try {
      T result = action.get();
      if (outermost) {
        commit();
      }
      return result;
    } finally {
      if (outermost) {
        rollBack();
      }
      lock.unlock();
    }
  }

  /** Registers what to do, the newest first, if the present action comes to nothing. */
  void onUndo(Runnable step) {
    undo.push(step);
  }

  private void commit() {
    if (open.isEmpty()) {
      undo.clear();
      return;
    }
    journal.accept(List.copyOf(open));
    undo.clear();
    history.addAll(open);
    open.clear();
    while (history.size() > HISTORY) {
      oldest = history.removeFirst().revision();
    }
    changed.signalAll();
  }

  private void rollBack() {
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
    open.clear();
  }

  long revision() {
    return atomically(() -> revision);
  }

  @Nullable ObjectNode get(ResourceType type, String namespace, String name) {
    lock.lock();
    try {
      return ofType(type).get(key(namespace, name));
    } finally {
      lock.unlock();
    }
  }

  boolean hasUid(String uid) {
    return atomically(() -> byUid.containsKey(uid));
  }

  /** Objects of one type in the order of namespace and name; all namespaces when it is empty. */
  List<ObjectNode> list(ResourceType type, String namespace) {
    return atomically(() ->
        ofType(type).values().stream()
            .filter(o -> namespace.isEmpty() || Json.namespace(o).equals(namespace))
            .toList());
  }

  /** Objects of any type that satisfy nothing but having {@code uid} as an owner. */
  List<Owned> ownedBy(String uid) {
    return atomically(() -> {
      List<Owned> owned = new ArrayList<>();
      objects.forEach((type, map) ->
          map.values().stream()
              .filter(o -> owners(o).contains(uid))
              .forEach(o -> owned.add(new Owned(type, o))));
      return owned;
    });
  }

  static List<String> owners(ObjectNode object) {
    List<String> uids = new ArrayList<>();
    object.path("metadata").path("ownerReferences").forEach(r -> uids.add(r.path("uid").asText()));
    return uids;
  }

  /** Stores a new state under a new revision and wakes watches; returns what was stored. */
  ObjectNode put(ResourceType type, ObjectNode object) {
    return atomically(() -> {
      ObjectNode stored = object.deepCopy();
      revision++;
      Json.metadata(stored).put("resourceVersion", Long.toString(revision));
      ObjectNode before = ofType(type).get(key(Json.namespace(stored), Json.name(stored)));
      change(new Change(revision, type, before, stored, stored));
      return stored;
    });
  }

  void remove(ResourceType type, ObjectNode object) {
    atomically(() -> {
      ObjectNode before = ofType(type).get(key(Json.namespace(object), Json.name(object)));
      if (before != null) {
        revision++;
        ObjectNode last = before.deepCopy();
        Json.metadata(last).put("resourceVersion", Long.toString(revision));
        change(new Change(revision, type, before, null, last));
      }
      return before;
    });
  }

  /**
   * Changes of one type after {@code after}, waiting up to {@code patience} for the first; empty
   * when time is up.
   *
   * @throws ApiException with code 410 when they are no longer kept
   */
  List<Change> awaitAfter(ResourceType type, long after, Duration patience)
      throws InterruptedException {
    long nanos = patience.toNanos();
    lock.lockInterruptibly();
    try {
      while (true) {
        if (after < oldest) {
          throw ApiException.of(
              410, "Expired", "too old resource version: %d (%d)".formatted(after, revision));
        }
        List<Change> found = new ArrayList<>();
        for (var it = history.descendingIterator(); it.hasNext(); ) {
          Change change = it.next();
          if (change.revision() <= after) {
            break;
          }
          if (change.type().equals(type)) {
            found.addFirst(change);
          }
        }
        if (!found.isEmpty() || closed || nanos <= 0) {
          return found;
        }
        nanos = changed.awaitNanos(nanos);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean closed() {
    return atomically(() -> closed);
  }

  /** Lets every waiting watch end. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void change(Change change) {
    set(change.type(), change.last(), change.after());
    open.add(change);
    onUndo(() -> {
      set(change.type(), change.last(), change.before());
      revision = change.revision() - 1;
    });
  }

  private void set(ResourceType type, ObjectNode identity, @Nullable ObjectNode state) {
    String key = key(Json.namespace(identity), Json.name(identity));
    if (state == null) {
      ofType(type).remove(key);
      byUid.remove(Json.uid(identity));
    } else {
      ofType(type).put(key, state);
      byUid.put(Json.uid(identity), state);
    }
  }

  private SortedMap<String, ObjectNode> ofType(ResourceType type) {
    return objects.computeIfAbsent(type, t -> new TreeMap<>());
  }

  private static String key(String namespace, String name) {
    return namespace + "/" + name;
  }

  /** An object with its type. */
  record Owned(ResourceType type, ObjectNode object) {}
}
