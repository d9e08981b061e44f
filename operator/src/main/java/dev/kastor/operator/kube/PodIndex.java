package dev.kastor.operator.kube;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Index of pods by something that they say, such as their job or their node.
 *
 * <p>Thread-safe. What is found under a key is what stood there at one moment: a pod that stays
 * under its key while it changes is always found, one that moves to another is found there before
 * it leaves the first.
 *
 * @param <K> what pods are found by
 */
public final class PodIndex<K> {
  private final Map<K, Map<String, Pod>> entries = new ConcurrentHashMap<>();
  private final Function<Pod, Optional<K>> key;

  /** Makes an index without pods; one for which {@code key} is empty is not kept. */
  public PodIndex(Function<Pod, Optional<K>> key) {
    this.key = key;
  }

  /** The pods under a key, in no order. */
  public Collection<Pod> get(K wanted) {
    Map<String, Pod> entry = entries.get(wanted);
    return entry == null ? List.of() : entry.values();
  }

  /** Number of pods in the index. */
  public int size() {
    return entries.values().stream().mapToInt(Map::size).sum();
  }

  /** Adds a pod, or puts it in the place of one of its name under the same key. */
  public void add(Pod pod) {
    replace(null, pod);
  }

  /** Removes a pod, whatever became of it since it was added under this key. */
  public void remove(Pod pod) {
    replace(pod, null);
  }

  /** Puts what a pod is now in place of what it was; {@code null}: it was or is not there. */
  void replace(@Nullable Pod before, @Nullable Pod after) {
    Optional<K> from = Optional.ofNullable(before).flatMap(key);
    Optional<K> to = Optional.ofNullable(after).flatMap(key);
    to.ifPresent(there -> change(there, entry -> entry.put(name(after), after)));
    from.filter(there -> !to.equals(from))
        .ifPresent(there -> change(there, entry -> entry.remove(name(before))));
  }

  /** Readers hold the entry before, which therefore stays as it is. */
  private void change(K there, Consumer<Map<String, Pod>> change) {
    entries.compute(
        there,
        (same, entry) -> {
          Map<String, Pod> changed = entry == null ? new HashMap<>() : new HashMap<>(entry);
          change.accept(changed);
          return changed.isEmpty() ? null : Map.copyOf(changed);
        });
  }

  private static String name(@Nullable Pod pod) {
    return Cache.metaNamespaceKeyFunc(pod);
  }
}
