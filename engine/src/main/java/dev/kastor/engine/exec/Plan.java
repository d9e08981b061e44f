package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Node;
import java.util.List;

/**
 * A graph made ready to run for one set of feeds and fetches.
 *
 * @param root the steps outside loops
 * @param regions all that is compiled
 * @param feeds the nodes whose values are given, in the order of their numbers
 * @param fetches how many results are asked for
 */
record Plan(FrameDef root, List<Region> regions, List<Node> feeds, int fetches) {
  Plan {
    regions = List.copyOf(regions);
    feeds = List.copyOf(feeds);
  }

  void close() {
    regions.forEach(Region::close);
  }
}
