package dev.kastor.e2e.watch;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * All objects of a kind as the API server has them, event by event.
 *
 * <p>Where events were missed, it takes a whole list at once; so it never shows a mix of two times.
 * It outlives the API server. Thread-safe.
 */
public final class Mirror<T extends HasMetadata> implements AutoCloseable {
  private static final long RETRY_MILLIS = 300;

  private final FilterWatchListDeletable<T, ? extends KubernetesResourceList<T>, ?> kind;
  private final Runnable changed;
  private final Thread follower;
  private volatile Map<String, T> objects = Map.of();

  /**
   * A mirror that follows its kind in a thread of its own.
   *
   * @param kind all objects, or those that a selector lets through
   * @param changed called after each event
   */
  public Mirror(
      FilterWatchListDeletable<T, ? extends KubernetesResourceList<T>, ?> kind,
      String name,
      Runnable changed) {
    this.kind = kind;
    this.changed = changed;
    follower = Thread.ofPlatform().daemon().name(name).start(this::follow);
  }

  /** Follows no longer. */
  @Override
  public void close() {
    follower.interrupt();
  }

  /** All objects by their uid. */
  public Map<String, T> objects() {
    return objects;
  }

  private void follow() {
    try {
      while (true) {
        try {
          followOnce();
        } catch (KubernetesClientException e) {
          // The API server is away or the kind is not defined yet.
          Thread.sleep(RETRY_MILLIS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void followOnce() throws InterruptedException {
    KubernetesResourceList<T> list = kind.list();
    Map<String, T> all = new HashMap<>();
    list.getItems().forEach(object -> all.put(object.getMetadata().getUid(), object));
    show(all);
    CountDownLatch closed = new CountDownLatch(1);
    var since =
        new ListOptionsBuilder()
            .withResourceVersion(list.getMetadata().getResourceVersion())
            .build();
    try (Watch _ = kind.watch(since, new Events(closed))) {
      closed.await();
    }
  }

  private void show(Map<String, T> all) {
    objects = Map.copyOf(all);
    changed.run();
  }

  private final class Events implements Watcher<T> {
    private final CountDownLatch closed;

    Events(CountDownLatch closed) {
      this.closed = closed;
    }

    @Override
    public boolean reconnecting() {
      return false;
    }

    @Override
    public void eventReceived(Action action, T object) {
      Map<String, T> all = new HashMap<>(objects);
      switch (action) {
        case ADDED, MODIFIED -> all.put(object.getMetadata().getUid(), object);
        case DELETED -> all.remove(object.getMetadata().getUid());
        case ERROR, BOOKMARK -> {
          return;
        }
      }
      show(all);
    }

    @Override
    public void onClose() {
      closed.countDown();
    }

    @Override
    public void onClose(WatcherException cause) {
      closed.countDown();
    }
  }
}
