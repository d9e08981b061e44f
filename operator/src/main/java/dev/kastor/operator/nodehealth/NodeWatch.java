package dev.kastor.operator.nodehealth;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.signal.Signals;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watch for dead nodes, once a second; a round is asked for when one dies or comes back. Used by
 * one thread.
 */
@Singleton
public final class NodeWatch {
  private static final Logger LOG = LoggerFactory.getLogger(NodeWatch.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private final ClusterCache cache;
  private final SignsOfLife signs;
  private final UnreachablePods unreachable;
  private final KubeletLeases leases;
  private final NodeUses uses;
  private final Signals signals;
  private final Metrics metrics;
  private final OperatorConfig.Node config;
  private final InstantSource clock;
  private Instant looked = Instant.EPOCH;
  private Map<String, Instant> lost = Map.of();

  public NodeWatch(
      ClusterCache cache,
      SignsOfLife signs,
      UnreachablePods unreachable,
      KubeletLeases leases,
      NodeUses uses,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    this.cache = cache;
    this.signs = signs;
    this.unreachable = unreachable;
    this.leases = leases;
    this.uses = uses;
    this.signals = signals;
    this.metrics = metrics;
    this.config = config.node();
    this.clock = clock;
  }

  /** Looks if it is time to. */
  public void lookIfDue() {
    Instant now = clock.instant();
    if (now.isBefore(looked.plus(INTERVAL))) {
      return;
    }
    looked = now;
    List<Pod> pods = cache.ourPods();
    Map<String, Instant> before = new HashMap<>(leases.readable() ? lost : Map.of());
    before.keySet().removeIf(node -> cache.node(node).isEmpty());
    Silence silence =
        Silence.of(
            before,
            signs.byNode(pods),
            name -> cache.node(name).filter(SlotCount::ready).isPresent(),
            leases.look(config.leaseAge(), now),
            config.silence(),
            config.leaseAge(),
            now);
    announce(silence);
    boolean changed =
        uses.heard(
            silence.answering(),
            silence.lost().keySet(),
            name -> cache.node(name).filter(SlotCount::usable).isPresent());
    if (changed) {
      signals.round();
    }
    if (config.forceDelete()) {
      unreachable.delete(pods);
    }
  }

  private void announce(Silence silence) {
    for (String node : silence.lost().keySet()) {
      if (!lost.containsKey(node)) {
        LOG.warn("node {} is taken for dead: its replicas and its kubelet are silent", node);
        metrics.nodeLost();
      }
    }
    for (String node : lost.keySet()) {
      if (!silence.lost().containsKey(node)) {
        LOG.info("node {} is no longer taken for dead", node);
      }
    }
    lost = silence.lost();
  }
}
