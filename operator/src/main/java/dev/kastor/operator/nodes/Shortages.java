package dev.kastor.operator.nodes;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.metrics.Metrics;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Nodes that can allocate fewer slots than their pods hold. A device plug-in that starts again, or
 * a driver that is changed, makes a kubelet tell of none for some seconds, and the pods train on:
 * who is there stays and nobody joins. Only what lasts is believed, and then the jobs there have to
 * do with less. Thread-safe.
 */
@Singleton
public final class Shortages {
  private static final Logger LOG = LoggerFactory.getLogger(Shortages.class);

  private final ClusterCache cache;
  private final EventRecorder events;
  private final Metrics metrics;
  private final SlotCount slots;
  private final Duration patience;
  private final Map<String, Instant> since = new HashMap<>();

  public Shortages(
      ClusterCache cache, EventRecorder events, Metrics metrics, OperatorConfig config) {
    this.cache = cache;
    this.events = events;
    this.metrics = metrics;
    slots = new SlotCount(config.slotResource());
    patience = config.node().shortagePatience();
  }

  /** Names of the nodes whose shortage may pass: whoever is there stays, and nobody joins. */
  public synchronized Set<String> passing(Collection<Node> nodes, Instant now) {
    Set<String> passing = new HashSet<>();
    Set<String> found = new HashSet<>();
    for (Node node : nodes) {
      String name = node.getMetadata().getName();
      List<Pod> pods = cache.podsOn(name);
      int held = slots.asked(pods);
      int has = slots.allocatable(node);
      if (held > has) {
        found.add(name);
        Instant first = since.computeIfAbsent(name, key -> now);
        if (first.equals(now)) {
          tell(name, pods, held, has);
        }
        if (now.isBefore(first.plus(patience))) {
          passing.add(name);
        }
      }
    }
    since.keySet().retainAll(found);
    metrics.overcommitted(found.size());
    return passing;
  }

  private void tell(String node, List<Pod> pods, int held, int has) {
    String message =
        ("Pods on node %s hold %d slots, and it can allocate %d. A device plug-in may be starting"
                + " again, a GPU may have failed, or a pod was bound past the scheduler: compare the"
                + " pods on the node with what it can allocate. If this lasts for %d s, the jobs"
                + " there have to do with less.")
            .formatted(node, held, has, patience.toSeconds());
    LOG.warn("{}", message);
    pods.stream()
        .filter(SlotCount::occupies)
        .flatMap(pod -> cache.maker(pod).stream())
        .distinct()
        .forEach(job -> events.warning(job, "NodeShort", message));
  }
}
