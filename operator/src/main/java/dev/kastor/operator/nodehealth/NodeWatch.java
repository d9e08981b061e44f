package dev.kastor.operator.nodehealth;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ApiBackoff;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.leader.Awake;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.signal.Signals;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks once a second which nodes are dead, and asks for a round when that changes.
 *
 * <p>When the API server did not answer lately, or we ourselves stood still, silence says nothing:
 * it counts from the end of the trouble. Used by one thread.
 */
@Singleton
public final class NodeWatch {
  private static final Logger LOG = LoggerFactory.getLogger(NodeWatch.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long after our predecessor's end we look for those who ended with it. */
  private static final Duration SUCCESSION = Duration.ofMinutes(1);

  private static final String OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

  private final KubernetesClient client;
  private final ClusterCache cache;
  private final MembershipService membership;
  private final KubeletLeases leases;
  private final NodeUses uses;
  private final ApiBackoff api;
  private final Mandate mandate;
  private final Awake awake;
  private final Signals signals;
  private final Metrics metrics;
  private final OperatorConfig.Node config;
  private final InstantSource clock;
  private Instant looked = Instant.EPOCH;
  private Set<String> lost = Set.of();

  public NodeWatch(
      KubernetesClient client,
      ClusterCache cache,
      MembershipService membership,
      KubeletLeases leases,
      NodeUses uses,
      ApiBackoff api,
      Mandate mandate,
      Awake awake,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    this.client = client;
    this.cache = cache;
    this.membership = membership;
    this.leases = leases;
    this.uses = uses;
    this.api = api;
    this.mandate = mandate;
    this.awake = awake;
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
    Silence silence =
        Silence.of(
            heard(pods),
            name -> cache.node(name).filter(SlotCount::ready).isPresent(),
            leases.look(config.leaseAge(), now),
            config.silence(),
            config.leaseAge(),
            now);
    announce(silence);
    boolean changed =
        uses.heard(
            silence.answering(),
            silence.lost(),
            name -> cache.node(name).filter(SlotCount::usable).isPresent());
    if (changed) {
      signals.round();
    }
    if (config.forceDelete()) {
      pods.stream().filter(this::goneForCertain).forEach(this::forceDelete);
    }
  }

  private Map<String, Instant> heard(List<Pod> pods) {
    Instant from = latest(latest(mandate.since(), awake.since()), api.lastTrouble());
    boolean successor = clock.instant().isBefore(mandate.since().plus(SUCCESSION));
    Map<String, Instant> heard = new HashMap<>();
    for (Pod pod : pods) {
      boolean runs = pod.getStatus() != null && "Running".equals(pod.getStatus().getPhase());
      if (!runs || pod.getMetadata().getDeletionTimestamp() != null) {
        continue;
      }
      Optional<Instant> seen = membership.lastSign(pod);
      // One that never spoke to us is still starting, or it died with our predecessor.
      boolean witness = seen.isPresent() || (successor && ranBefore(pod));
      if (witness) {
        Instant sign = latest(seen.orElse(from), from);
        heard.merge(PodPlace.meant(pod), sign, NodeWatch::latest);
      }
    }
    return heard;
  }

  private boolean ranBefore(Pod pod) {
    String created = pod.getMetadata().getCreationTimestamp();
    return created != null && Instant.parse(created).isBefore(mandate.since());
  }

  private void announce(Silence silence) {
    for (String node : silence.lost()) {
      if (!lost.contains(node)) {
        LOG.warn("node {} is taken for dead: its replicas and its kubelet are silent", node);
        metrics.nodeLost();
      }
    }
    for (String node : lost) {
      if (!silence.lost().contains(node)) {
        LOG.info("node {} is no longer taken for dead", node);
      }
    }
    lost = silence.lost();
  }

  /** Nothing of the pod can run any more: its node object is gone, or a person vouches for it. */
  private boolean goneForCertain(Pod pod) {
    String name = pod.getSpec().getNodeName();
    if (name == null || name.isEmpty()) {
      return false;
    }
    Optional<Node> node = cache.node(name);
    return node.isEmpty() || taints(node.get()).stream().anyMatch(NodeWatch::outOfService);
  }

  private void forceDelete(Pod pod) {
    try {
      client.pods().resource(pod).withGracePeriod(0).delete();
      LOG.warn(
          "{}: {} is removed without its kubelet, for node {} is gone",
          Labels.job(pod).orElseThrow(),
          pod.getMetadata().getName(),
          pod.getSpec().getNodeName());
    } catch (KubernetesClientException e) {
      LOG.warn("pod {} could not be removed: {}", pod.getMetadata().getName(), e.getMessage());
    }
  }

  private static boolean outOfService(Taint taint) {
    return OUT_OF_SERVICE.equals(taint.getKey());
  }

  private static List<Taint> taints(Node node) {
    return node.getSpec() == null || node.getSpec().getTaints() == null
        ? List.of()
        : node.getSpec().getTaints();
  }

  private static Instant latest(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }
}
