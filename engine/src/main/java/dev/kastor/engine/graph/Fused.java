package dev.kastor.engine.graph;

import java.util.List;
import java.util.Optional;

/**
 * An op defined by primitives, for which a backend may know something faster.
 *
 * <p>Implement it as a record; register it in {@code Ops} so that the contract tests see it.
 */
public non-sealed interface Fused extends Pure {
  /** The definition: the same result in primitives or other fused ops. */
  Node decompose(List<Node> inputs);

  /** By default the type of the definition. */
  @Override
  default Type infer(List<Type> inputs) {
    return decompose(inputs.stream().map(type -> Node.input("operand", type)).toList()).type();
  }

  /**
   * The gradients of the 32-bit float inputs, in their order; empty to differentiate the
   * definition.
   *
   * @param node the application of this op
   * @param gradient of the loss with respect to the node
   */
  default Optional<List<Node>> gradients(Node node, Node gradient) {
    return Optional.empty();
  }
}
