package dev.kastor.operator.job;

import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.SlotCount;
import dev.kastor.scheduler.JobId;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Pods that we made and that the cache has not shown yet, by job and by node: a question about one
 * costs nothing for pods of the others. Thread-safe.
 */
final class UnseenPods {
  /** A pod that the cache has not shown by then was removed before it was seen. */
  private static final Duration UNSEEN = Duration.ofSeconds(10);

  private record Made(Pod pod, Instant at) {}

  private final Map<JobId, Map<String, Made>> byJob = new ConcurrentHashMap<>();
  private final Map<String, Map<String, Made>> byNode = new ConcurrentHashMap<>();

  void add(Pod pod, Instant now) {
    Made made = new Made(pod, now);
    put(byJob, jobOf(pod), made);
    put(byNode, SlotCount.nodeOf(pod), made);
  }

  /** The pods that the cache shows of a job, and those that it does not show yet. */
  List<Pod> of(JobId job, Supplier<List<Pod>> cache, Instant now) {
    return with(byJob, job, cache, now);
  }

  /** The pods that the cache shows on a node, and those that it does not show yet. */
  List<Pod> on(String node, Supplier<List<Pod>> cache, Instant now) {
    return with(byNode, node, cache, now);
  }

  /** How many are remembered. */
  int size() {
    return byJob.values().stream().mapToInt(Map::size).sum();
  }

  private <K> List<Pod> with(
      Map<K, Map<String, Made>> index, K place, Supplier<List<Pod>> cache, Instant now) {
    // Ours before the cache's: a pod that moves there meanwhile is met twice, never not at all.
    Map<String, Made> made = index.get(place);
    List<Made> ours = made == null ? List.of() : List.copyOf(made.values());
    List<Pod> pods = new ArrayList<>(cache.get());
    if (ours.isEmpty()) {
      return pods;
    }
    Set<String> shown = pods.stream().map(UnseenPods::key).collect(Collectors.toSet());
    for (Made each : ours) {
      if (shown.contains(key(each.pod())) || each.at().isBefore(now.minus(UNSEEN))) {
        remove(byJob, jobOf(each.pod()), each);
        remove(byNode, SlotCount.nodeOf(each.pod()), each);
      } else {
        pods.add(each.pod());
      }
    }
    return pods;
  }

  private static <K> void put(Map<K, Map<String, Made>> index, K place, Made made) {
    index.compute(
        place,
        (key, before) -> {
          Map<String, Made> all = before == null ? new ConcurrentHashMap<>() : before;
          all.put(key(made.pod()), made);
          return all;
        });
  }

  private static <K> void remove(Map<K, Map<String, Made>> index, K place, Made made) {
    index.computeIfPresent(
        place,
        (key, all) -> {
          all.remove(key(made.pod()));
          return all.isEmpty() ? null : all;
        });
  }

  private static JobId jobOf(Pod pod) {
    return Labels.job(pod).orElseThrow();
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
