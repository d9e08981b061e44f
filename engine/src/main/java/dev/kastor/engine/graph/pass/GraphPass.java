package dev.kastor.engine.graph.pass;

import dev.kastor.engine.graph.Node;
import dev.kastor.training.Feature;
import java.util.List;

/**
 * Rewrite of a graph into another one of the same values: a plug-in.
 *
 * <p>It is deterministic, and applied to its own result it changes nothing. Leaves, and nodes of
 * which nothing changes, stay the same objects: whoever built the graph finds them in the result.
 * Nodes with a place, or that come after others, stay where they are. It holds no state.
 */
public interface GraphPass extends Feature {
  /** When a pass is applied. */
  enum Stage {
    /**
     * Before gradients are found, so that these are of the rewritten graph. Its nodes are the loss
     * and what else is wanted of the network; a graph without gradients passes both stages.
     */
    BEFORE_GRADIENTS,
    /** To the loss and its gradients together, before a backend compiles them. */
    BEFORE_COMPILATION
  }

  /** When it is applied. */
  Stage stage();

  /**
   * The same results by other nodes.
   *
   * @param results wanted nodes; may repeat
   * @return one for each of them, of the same type and in the same order
   */
  List<Node> apply(List<Node> results);
}
