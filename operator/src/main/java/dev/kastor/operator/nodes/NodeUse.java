package dev.kastor.operator.nodes;

import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.kube.Tolerations;
import io.fabric8.kubernetes.api.model.Node;
import java.util.Set;

/** What a node is good for. */
public enum NodeUse {
  /** New replicas may be put there. */
  OPEN,
  /**
   * Replicas that are there may stay and nobody may join them: it is cordoned, or not ready while
   * its replicas go on training.
   */
  KEEP,
  /** Its replicas have to leave while they can: it is about to be taken away. */
  LEAVE,
  /** It is dead as far as anybody can tell; what ran there trains no more. */
  LOST;

  /** What a node is good for by what it says of itself. */
  static NodeUse of(Node node, Set<String> leaveTaints, boolean answers, boolean lost) {
    if (lost) {
      return LOST;
    }
    if (Tolerations.taints(node).stream().anyMatch(taint -> leaveTaints.contains(taint.getKey()))) {
      return LEAVE;
    }
    if (SlotCount.usable(node)) {
      return OPEN;
    }
    boolean cordoned =
        node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
    boolean ready = SlotCount.ready(node);
    return answers || (cordoned && ready) ? KEEP : LOST;
  }
}
