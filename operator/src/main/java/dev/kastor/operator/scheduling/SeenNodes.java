package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.nodes.NodeUse;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.nodes.Shortages;
import dev.kastor.operator.pods.ClosedNodes;
import dev.kastor.scheduler.model.Node;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Nodes as rounds see them: which take new replicas, how many slots they have, and for whom. */
@Singleton
final class SeenNodes {
  private final ClusterCache cache;
  private final NodeUses uses;
  private final Shortages shortages;
  private final ClosedNodes closed;
  private final NodeMapper mapper;

  SeenNodes(
      ClusterCache cache,
      NodeUses uses,
      Shortages shortages,
      ClosedNodes closed,
      NodeMapper mapper) {
    this.cache = cache;
    this.uses = uses;
    this.shortages = shortages;
    this.closed = closed;
    this.mapper = mapper;
  }

  /**
   * The nodes of one round.
   *
   * @param round which are open, and which keep jobs that are there
   * @param nodes those with slots, as policies see them
   * @param closed the open ones that take no further pods of a job
   */
  record Look(RoundNodes round, List<Node> nodes, ClosedNodes.Look closed) {
    /** The nodes that take no further pods of the job, by name, with the words for it. */
    Map<String, String> closed(TrainingJob job) {
      return closed.of(job);
    }
  }

  /** The nodes as they are for a round over these jobs. */
  Look look(Collection<JobReading> jobs, Instant now) {
    List<io.fabric8.kubernetes.api.model.Node> all = cache.nodes();
    Set<String> passing = shortages.passing(all, now);
    RoundNodes round = RoundNodes.of(all, node -> use(node, passing), jobs, cache::pods);
    List<io.fabric8.kubernetes.api.model.Node> open =
        all.stream().filter(node -> round.open().contains(node.getMetadata().getName())).toList();
    return new Look(round, mapper.nodes(all, round, now), closed.look(open));
  }

  /** Whether new replicas of the job may be put on the node. */
  boolean usable(TrainingJob job, String name) {
    return cache
        .node(name)
        .filter(uses::open)
        .filter(node -> !closed.look(List.of(node)).of(job).containsKey(name))
        .isPresent();
  }

  private NodeUse use(io.fabric8.kubernetes.api.model.Node node, Set<String> passing) {
    NodeUse use = uses.of(node);
    return use == NodeUse.OPEN && passing.contains(node.getMetadata().getName())
        ? NodeUse.KEEP
        : use;
  }
}
