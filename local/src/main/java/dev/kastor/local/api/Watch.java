package dev.kastor.local.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One client's stream of changes, a JSON object per line. */
final class Watch {
  /** Between bookmarks; writing one is also how a client that went away is noticed. */
  private static final Duration BOOKMARK = Duration.ofSeconds(10);

  private final Store store;
  private final ResourceType type;
  private final Predicate<ObjectNode> wanted;
  private final boolean bookmarks;
  private final UnaryOperator<ObjectNode> view;
  private final OutputStream out;

  /** A stream that shows each object as {@code view} makes it. */
  Watch(
      Store store,
      ResourceType type,
      Predicate<ObjectNode> wanted,
      boolean bookmarks,
      UnaryOperator<ObjectNode> view,
      OutputStream out) {
    this.store = store;
    this.type = type;
    this.wanted = wanted;
    this.bookmarks = bookmarks;
    this.view = view;
    this.out = out;
  }

  /**
   * Streams until {@code lifetime} is over, the client leaves or the server closes.
   *
   * @param from revision after which changes are wanted; null for all objects first
   * @param initialEvents whether the client asked for the present objects and a mark behind them
   */
  void run(@Nullable Long from, boolean initialEvents, Duration lifetime)
      throws IOException, InterruptedException {
    long position = from == null ? present(initialEvents) : from;
    long end = System.nanoTime() + lifetime.toNanos();
    try {
      while (!store.closed() && System.nanoTime() < end) {
        long left = Math.min(BOOKMARK.toNanos(), end - System.nanoTime());
        List<Change> changes = store.awaitAfter(type, position, Duration.ofNanos(left));
        for (Change change : changes) {
          send(change);
          position = change.revision();
        }
        if (changes.isEmpty() && bookmarks) {
          bookmark(position, false);
        }
      }
    } catch (ApiException e) {
      event("ERROR", e.status());
    }
  }

  private long present(boolean mark) throws IOException {
    record Present(long revision, List<ObjectNode> objects) {}
    Present present = store.atomically(() -> new Present(store.revision(), store.list(type, "")));
    for (ObjectNode object : present.objects()) {
      if (wanted.test(object)) {
        event("ADDED", view.apply(object));
      }
    }
    if (mark) {
      bookmark(present.revision(), true);
    }
    return present.revision();
  }

  private void send(Change change) throws IOException {
    boolean before = change.before() != null && wanted.test(change.before());
    boolean after = change.after() != null && wanted.test(change.after());
    if (after) {
      event(before ? "MODIFIED" : "ADDED", view.apply(change.last()));
    } else if (before) {
      event("DELETED", view.apply(change.last()));
    }
  }

  private void bookmark(long revision, boolean initialEnd) throws IOException {
    ObjectNode object = Json.object();
    object.put("apiVersion", type.apiVersion()).put("kind", type.kind());
    ObjectNode metadata = object.putObject("metadata");
    metadata.put("resourceVersion", Long.toString(revision));
    if (initialEnd) {
      metadata.putObject("annotations").put("k8s.io/initial-events-end", "true");
    }
    event("BOOKMARK", object);
  }

  private void event(String kind, ObjectNode object) throws IOException {
    ObjectNode event = Json.object().put("type", kind);
    event.set("object", object);
    out.write((Json.text(event) + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }
}
