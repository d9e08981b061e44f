package dev.kastor.engine.partition;

import dev.kastor.engine.graph.Node;
import java.util.List;

/**
 * What one device does of a graph.
 *
 * @param numbers which of the graph's fetches are here
 * @param fetches those, and after them what else has to take place
 */
record Part(List<Integer> numbers, List<Node> fetches) {
  Part {
    numbers = List.copyOf(numbers);
    fetches = List.copyOf(fetches);
  }
}
