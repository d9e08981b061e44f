package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.List;
import java.util.Optional;

/**
 * A row whose number is known at run time, such as that of an iteration: {@code [rows, ..]} and a
 * scalar to {@code [..]}. The row nearest to the scalar; zeros if there is none.
 */
public record RowAt() implements Fused {
  /** A row of a tensor. */
  public static Node of(Node rows, Node number) {
    return Node.of(new RowAt(), rows, number);
  }

  /** Which of so many rows a number means; -1 if none. */
  public static int number(float number, int rows) {
    return RowNumber.of(number, rows);
  }

  @Override
  public Type infer(List<Type> inputs) {
    return RowNumber.row(this, inputs);
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node rows = inputs.getFirst();
    Node mask = RowNumber.mask(inputs.get(1), rows.shape());
    return mask.select(rows, Node.constant(0)).sum(0, 1);
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    Node none = Node.constant(0).broadcast(node.input(0).shape());
    return Optional.of(List.of(AddToRow.of(none, node.input(1), gradient), Node.constant(0)));
  }
}
