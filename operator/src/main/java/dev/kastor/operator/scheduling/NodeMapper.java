package dev.kastor.operator.scheduling;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.nodes.NodeTraits;
import dev.kastor.operator.nodes.NodeTypes;
import dev.kastor.operator.nodes.SlowNodes;
import dev.kastor.scheduler.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Translation of nodes of the API server into the scheduler's {@link Node}s. Thread-safe.
 *
 * <p>Slots of pods that the operator did not make are not the scheduler's to give. Nor are those of
 * its own pods that were asked to leave and are still there long after: whoever is given one would
 * wait for it as long.
 */
@Singleton
final class NodeMapper {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMapper.class);

  /** What a kubelet may take to report the end of a pod. */
  private static final Duration REPORT = Duration.ofSeconds(30);

  private final ClusterCache cache;
  private final SlowNodes slow;
  private final SlotCount slots;
  private final String gpuTypeLabel;
  private final Duration departure;
  private final Set<String> unreadable = new HashSet<>();

  NodeMapper(ClusterCache cache, SlowNodes slow, OperatorConfig config) {
    this.cache = cache;
    this.slow = slow;
    slots = new SlotCount(config.slotResource());
    gpuTypeLabel = config.gpuTypeLabel();
    departure = config.agent().terminationGrace().plus(REPORT);
  }

  /** The nodes that have slots in this round, by name. */
  synchronized List<Node> nodes(
      Collection<io.fabric8.kubernetes.api.model.Node> nodes, RoundNodes round, Instant now) {
    List<Node> mapped = new ArrayList<>(nodes.size());
    Set<String> present = HashSet.newHashSet(nodes.size());
    for (var node : nodes) {
      String name = node.getMetadata().getName();
      present.add(name);
      boolean open = round.open().contains(name);
      int left = open ? left(node, now) : round.kept().getOrDefault(name, 0);
      if (left > 0) {
        mapped.add(node(node, left));
      }
    }
    mapped.sort(Comparator.comparing(Node::name));
    return slow.told(mapped, () -> taken(nodes), present, now);
  }

  /** Slots that pods of jobs hold, by node. */
  private Map<String, Integer> taken(Collection<io.fabric8.kubernetes.api.model.Node> nodes) {
    Map<String, Integer> taken = HashMap.newHashMap(nodes.size());
    for (var node : nodes) {
      String name = node.getMetadata().getName();
      List<Pod> ours =
          cache.podsOn(name).stream().filter(pod -> cache.maker(pod).isPresent()).toList();
      taken.put(name, slots.held(node, ours));
    }
    return taken;
  }

  private int left(io.fabric8.kubernetes.api.model.Node node, Instant now) {
    List<Pod> pods = cache.podsOn(node.getMetadata().getName());
    return slots.free(node, pods.stream().filter(pod -> !gives(pod, now)).toList());
  }

  /** Whether the slots of the pod are the scheduler's to give. */
  private boolean gives(Pod pod, Instant now) {
    boolean late =
        PodPlace.askedToLeave(pod).filter(asked -> now.isAfter(asked.plus(departure))).isPresent();
    return !late && cache.maker(pod).isPresent();
  }

  private Node node(io.fabric8.kubernetes.api.model.Node node, int left) {
    String name = node.getMetadata().getName();
    NodeTraits traits = NodeTraits.of(node.getMetadata());
    for (String key : NodeTraits.unreadable(node.getMetadata())) {
      if (unreadable.add(key + " of node " + name)) {
        LOG.warn("{} of node {} is no number that it can have, and is ignored", key, name);
      }
    }
    return new Node(
            name,
            NodeTypes.of(node, gpuTypeLabel),
            left,
            traits.rack(),
            traits.preemptible(),
            traits.pricePerHour())
        .withSharing(traits.slotsPerDevice());
  }
}
