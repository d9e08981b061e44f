package dev.kastor.engine.collective;

import dev.kastor.engine.train.Collective;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.CollectivePort;
import dev.kastor.plugin.Options;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sums node by node: reduce-scatter within each node, a ring between nodes for each part,
 * all-gather within each node (Cho et al., BlueConnect, MLSys 2019).
 *
 * <p>There each level of the network has a factor of the number of replicas. Here there are two
 * levels, and nodes may have different numbers of replicas: the vector has as many parts as the
 * smallest node has replicas, and replicas beyond that own no part. What leaves a node is 2 S (1 -
 * 1/K) bytes for a vector of S bytes on K nodes, and 2 S (1 - 1/N) over one ring of N replicas.
 */
final class Hierarchical implements CollectivePlugin {
  private static final Logger LOG = LoggerFactory.getLogger(Hierarchical.class);

  @Override
  public String name() {
    return "hierarchical";
  }

  @Override
  public String description() {
    return "Sums gradients within each node, then between nodes, so that fewer bytes leave a node.";
  }

  @Override
  public Collective create(Options options) {
    return Hierarchical::over;
  }

  private static Collective.Sums over(CollectivePort port) throws IOException {
    List<List<Integer>> nodes = nodes(port.nodes());
    if (nodes.size() == 1 || nodes.size() == port.size()) {
      return port.ring();
    }
    int parts = nodes.stream().mapToInt(List::size).min().orElseThrow();
    List<List<Integer>> groups = new ArrayList<>(nodes);
    for (int part = 0; part < parts; part++) {
      int owner = part;
      groups.add(nodes.stream().map(node -> node.get(owner)).toList());
    }
    List<Optional<CollectivePort.Group>> opened = port.open(groups);
    CollectivePort.Group within = only(opened.subList(0, nodes.size())).orElseThrow();
    Optional<CollectivePort.Group> between = only(opened.subList(nodes.size(), opened.size()));
    LOG.info(
        "Gradients are summed within {} nodes, and between them in parts, of which there are {}.",
        nodes.size(),
        parts);
    return new TwoLevels(port.ring().capacity(), parts, within, between);
  }

  /** Ranks by node, in the order of ranks. */
  private static List<List<Integer>> nodes(List<String> names) {
    Map<String, List<Integer>> ranks = new LinkedHashMap<>();
    for (int rank = 0; rank < names.size(); rank++) {
      ranks.computeIfAbsent(names.get(rank), _ -> new ArrayList<>()).add(rank);
    }
    return List.copyOf(ranks.values());
  }

  /** That to which we belong. */
  private static Optional<CollectivePort.Group> only(List<Optional<CollectivePort.Group>> groups) {
    return groups.stream().flatMap(Optional::stream).findFirst();
  }

  /**
   * Sums of one generation.
   *
   * @param capacity in elements
   * @param parts of a vector
   * @param within members of our node
   * @param between owners of our part; empty if we own none
   */
  private record TwoLevels(
      int capacity, int parts, CollectivePort.Group within, Optional<CollectivePort.Group> between)
      implements Collective.Sums {
    @Override
    public void allReduce(float[] data, int from, int to) throws IOException {
      int[] bounds =
          IntStream.rangeClosed(0, within.size())
              .map(part -> from + (int) ((long) (to - from) * Math.min(part, parts) / parts))
              .toArray();
      within.reduceScatter(data, bounds);
      if (between.isPresent()) {
        between.get().allReduce(data, bounds[within.rank()], bounds[within.rank() + 1]);
      }
      within.allGather(data, bounds);
    }
  }
}
