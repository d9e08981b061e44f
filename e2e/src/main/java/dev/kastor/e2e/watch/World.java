package dev.kastor.e2e.watch;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.trainingjob.TrainingJob;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What can be seen of a cluster at one time.
 *
 * @param pods by uid
 * @param jobs by uid
 * @param nodes by uid
 * @param queues by uid
 * @param processes of training on all nodes
 * @param userDeleted jobs, as {@code namespace/name}, that their users have deleted
 * @param now when it was so
 */
record World(
    Map<String, Pod> pods,
    Map<String, TrainingJob> jobs,
    Map<String, Node> nodes,
    Map<String, Queue> queues,
    List<AgentProcess> processes,
    Set<String> userDeleted,
    Instant now) {

  World {
    processes = List.copyOf(processes);
    userDeleted = Set.copyOf(userDeleted);
  }

  /**
   * The node that a pod is on, or that the operator means it for. Who makes a pod may write any
   * node into it: it is on one whose kubelet has taken it, and meant for one if its owner, number
   * and node are what the operator gave.
   */
  Optional<String> node(Pod pod) {
    boolean taken =
        !"Pending".equals(pod.getStatus().getPhase()) || pod.getStatus().getStartTime() != null;
    return Pods.node(pod)
        .filter(node -> (taken && pod.getSpec().getNodeName() != null) || isGiven(pod, node));
  }

  private boolean isGiven(Pod pod, String node) {
    TrainingJob job = Pods.owner(pod).map(jobs::get).orElse(null);
    if (job == null || job.getStatus() == null) {
      return false;
    }
    var allocation = job.getStatus().allocation();
    Long next = job.getStatus().nextPod();
    String number =
        pod.getMetadata().getName().substring(pod.getMetadata().getName().lastIndexOf('-') + 1);
    return Pods.name(pod).equals(Pods.name(job) + "-" + number)
        && number.matches("[0-9]{1,18}")
        && next != null
        && Long.parseLong(number) < next
        && allocation != null
        && allocation.nodes().containsKey(node);
  }

  /** Pods that were made for a job. */
  Collection<Pod> jobPods() {
    return pods.values().stream().filter(pod -> Pods.owner(pod).isPresent()).toList();
  }
}
