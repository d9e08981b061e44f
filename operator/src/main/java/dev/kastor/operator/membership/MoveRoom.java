package dev.kastor.operator.membership;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ApiBackoff;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.scheduler.model.Allocation;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Room on the nodes that a job is to move to. */
@Singleton
final class MoveRoom {
  private final SlotCount slots;
  private final Function<String, Optional<Node>> node;
  private final Function<String, Collection<Pod>> podsOn;
  private final Predicate<Node> lost;
  private final Supplier<Instant> lastTrouble;

  @Inject
  MoveRoom(OperatorConfig config, ClusterCache cache, NodeUses uses, ApiBackoff api) {
    this(
        new SlotCount(config.slotResource()),
        cache::node,
        cache::podsOn,
        uses::lost,
        api::lastTrouble);
  }

  /**
   * Room as these tell.
   *
   * @param lastTrouble when the API server last failed to answer as it should
   */
  MoveRoom(
      SlotCount slots,
      Function<String, Optional<Node>> node,
      Function<String, Collection<Pod>> podsOn,
      Predicate<Node> lost,
      Supplier<Instant> lastTrouble) {
    this.slots = slots;
    this.node = node;
    this.podsOn = podsOn;
    this.lost = lost;
    this.lastTrouble = lastTrouble;
  }

  /**
   * Whether other jobs hold the slots that this job is to have. Those jobs may wait for the slots
   * that this job holds, so that it has to stop at last. Where the slots are free the new pods are
   * only late, and the job trains on until they are ready.
   *
   * @param namespace of the job
   * @param since when the move began
   */
  boolean awaited(String namespace, Allocation target, PodPlan plan, Instant since) {
    if (!plan.missing().isEmpty()) {
      // Pods that cannot be made wait for a quota of the namespace, say, unless nothing can be.
      return !lastTrouble.get().isAfter(since);
    }
    Set<String> own = plan.wanted().stream().map(PodView::name).collect(Collectors.toSet());
    return target.slotsByNode().entrySet().stream()
        .anyMatch(entry -> free(entry.getKey(), namespace, own) < entry.getValue());
  }

  /** Whether nothing of the pod runs any more, as its node is lost. */
  boolean lost(PodView pod) {
    return node.apply(pod.node()).filter(lost).isPresent();
  }

  /** Pods that are in the way of others; those that leave are not for much longer. */
  long holding(List<PodView> pods) {
    return pods.stream().filter(PodView::live).filter(pod -> !lost(pod)).count();
  }

  private int free(String name, String namespace, Set<String> own) {
    List<Pod> others =
        podsOn.apply(name).stream()
            .filter(pod ->
                !pod.getMetadata().getNamespace().equals(namespace)
                    || !own.contains(pod.getMetadata().getName()))
            .toList();
    return node.apply(name).map(there -> slots.free(there, others)).orElse(0);
  }
}
