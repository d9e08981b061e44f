package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.PodPlace;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.nodes.NodeUse;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The nodes of one round: open ones, and of those that take nobody new the slots of jobs that stay.
 *
 * <p>A job stays where it is, with the size that it has, while it holds slots of a node that takes
 * nobody new and all its replicas there live. Else it has to do without that node.
 *
 * @param open names of nodes with all their slots
 * @param kept slots of jobs that stay, by the node that takes nobody else
 * @param staying those jobs
 */
public record RoundNodes(Set<String> open, Map<String, Integer> kept, Set<JobId> staying) {
  /** For jobs that are on no node. */
  static final RoundNodes NONE = new RoundNodes(Set.of(), Map.of(), Set.of());

  public static RoundNodes of(
      Collection<Node> nodes,
      Function<Node, NodeUse> uses,
      Collection<JobReading> jobs,
      Function<TrainingJob, List<Pod>> pods) {
    Set<String> open = new HashSet<>();
    Set<String> keep = new HashSet<>();
    for (Node node : nodes) {
      switch (uses.apply(node)) {
        case OPEN -> open.add(node.getMetadata().getName());
        case KEEP -> keep.add(node.getMetadata().getName());
        case LEAVE, LOST -> {}
      }
    }
    Map<String, Integer> kept = new HashMap<>();
    Set<JobId> staying = new HashSet<>();
    if (keep.isEmpty()) {
      return new RoundNodes(open, kept, staying);
    }
    for (JobReading job : jobs) {
      Map<String, Integer> replicas = job.allocation().replicasByNode();
      if (replicas.keySet().stream().noneMatch(keep::contains)) {
        continue;
      }
      JobId id = job.id();
      List<Pod> own =
          pods.apply(job.job()).stream()
              .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
              .filter(SlotCount::occupies)
              .toList();
      boolean stays =
          replicas.entrySet().stream()
              .allMatch(entry ->
                  open.contains(entry.getKey())
                      || (keep.contains(entry.getKey())
                          && count(own, entry.getKey()) >= entry.getValue()));
      if (stays) {
        staying.add(id);
        job.allocation()
            .slotsByNode()
            .forEach((node, slots) -> {
              if (keep.contains(node)) {
                kept.merge(node, slots, Integer::sum);
              }
            });
      }
    }
    return new RoundNodes(open, kept, staying);
  }

  /** Whether the job may stay on all the nodes of its allocation. */
  public boolean there(JobId job, Allocation allocation) {
    return staying.contains(job) || open.containsAll(allocation.replicasByNode().keySet());
  }

  private static long count(List<Pod> pods, String node) {
    return pods.stream().filter(pod -> PodPlace.meant(pod).equals(node)).count();
  }
}
