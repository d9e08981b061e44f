package dev.kastor.operator.nodes;

import dev.kastor.operator.config.OperatorConfig;
import io.fabric8.kubernetes.api.model.Node;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What each node is good for, by its conditions and taints and by whether its replicas answer.
 * Thread-safe.
 */
@Singleton
public final class NodeUses {
  private record Heard(Set<String> answering, Set<String> lost) {}

  private final Set<String> leaveTaints;
  private volatile Heard heard = new Heard(Set.of(), Set.of());

  @Inject
  public NodeUses(OperatorConfig config) {
    this(config.node().leaveTaints());
  }

  NodeUses(Collection<String> leaveTaints) {
    this.leaveTaints = Set.copyOf(leaveTaints);
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
   * @param usable whether a node says of itself that it is well: then it makes no difference
   *     whether its replicas answer
   * @return whether this changed what any node is good for
   */
  public boolean heard(Set<String> answering, Set<String> lost, Predicate<String> usable) {
    Heard before = heard;
    heard = new Heard(Set.copyOf(answering), Set.copyOf(lost));
    return !lost.equals(before.lost())
        || differ(answering, before.answering(), usable)
        || differ(before.answering(), answering, usable);
  }

  private static boolean differ(Set<String> some, Set<String> others, Predicate<String> usable) {
    return some.stream().anyMatch(node -> !others.contains(node) && !usable.test(node));
  }
}
