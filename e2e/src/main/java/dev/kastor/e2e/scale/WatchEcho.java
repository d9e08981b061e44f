package dev.kastor.e2e.scale;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Time from the answer to a write until who watches sees it, without the operator: the reference
 * for decisions, each of which is two such ways, a write and the deciding between them.
 *
 * <p>Thread-safe.
 */
final class WatchEcho implements AutoCloseable {
  private static final String NAMESPACE = "default";
  private static final Map<String, String> LABELS = Map.of("kastor-e2e", "watch-echo");

  private final KubernetesClient client;
  private final Map<String, Long> written = new ConcurrentHashMap<>();
  private final Map<String, Long> seen = new ConcurrentHashMap<>();
  private final Watch watch;

  WatchEcho(KubernetesClient client) {
    this.client = client;
    watch =
        client
            .configMaps()
            .inNamespace(NAMESPACE)
            .withLabels(LABELS)
            .watch(
                new Watcher<>() {
                  @Override
                  public void eventReceived(Action action, ConfigMap map) {
                    seen.putIfAbsent(map.getMetadata().getName(), System.nanoTime());
                  }

                  @Override
                  public void onClose(WatcherException cause) {
                    // What is not seen is missing in the result.
                  }
                });
  }

  /** Writes once. */
  void write() {
    String name = "echo-" + written.size();
    client
        .configMaps()
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace(NAMESPACE)
                .withName(name)
                .withLabels(LABELS)
                .endMetadata()
                .build())
        .create();
    written.put(name, System.nanoTime());
  }

  /** Number of writes that were not seen yet. */
  int missing() {
    return written.size() - seen.size();
  }

  /** Seconds that each write took to be seen, ascending. */
  double[] seconds() {
    return seen.entrySet().stream()
        .mapToDouble(
            entry -> Math.max(0, entry.getValue() - written.getOrDefault(entry.getKey(), 0L)) / 1e9)
        .sorted()
        .toArray();
  }

  /** Removes what was written. */
  @Override
  public void close() {
    watch.close();
    client.configMaps().inNamespace(NAMESPACE).withLabels(LABELS).delete();
  }
}
