package dev.kastor.operator.cluster;

import dev.kastor.operator.OperatorConfig;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Singleton;
import java.util.Set;

/**
 * What each node is good for, by its conditions and taints and by whether its replicas answer.
 * Thread-safe.
 */
@Singleton
public final class NodeUses {
  private record Heard(Set<String> answering, Set<String> lost) {}

  private final Set<String> leaveTaints;
  private volatile Heard heard = new Heard(Set.of(), Set.of());

  public NodeUses(OperatorConfig config) {
    leaveTaints = Set.copyOf(config.node().leaveTaints());
  }

  /** What the node is good for now. */
  public NodeUse of(Node node) {
    String name = node.getMetadata().getName();
    Heard now = heard;
    return NodeUse.of(node, leaveTaints, now.answering().contains(name), now.lost().contains(name));
  }

  /** Whether new replicas may be put on the node. */
  public boolean open(Node node) {
    return of(node) == NodeUse.OPEN;
  }

  /** Whether what is on the node counts for nothing any more. */
  public boolean lost(Node node) {
    return of(node) == NodeUse.LOST;
  }

  /**
   * Takes in who was heard.
   *
   * @param answering nodes with a replica that spoke to us lately
   * @param lost nodes that nobody heard of lately, neither we nor the API server
   * @return whether this changed anything
   */
  public boolean heard(Set<String> answering, Set<String> lost) {
    Heard next = new Heard(Set.copyOf(answering), Set.copyOf(lost));
    boolean changed = !next.equals(heard);
    heard = next;
    return changed;
  }
}
