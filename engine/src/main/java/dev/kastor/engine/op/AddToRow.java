package dev.kastor.engine.op;

import dev.kastor.engine.graph.Increment;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * Adds to the row whose number is known at run time: {@code [rows, ..]}, a scalar and {@code [..]}
 * to {@code [rows, ..]}. The row nearest to the scalar; nothing is added if there is none.
 */
public record AddToRow() implements Increment {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  /** A tensor with something added to one row. */
  public static Node of(Node rows, Node number, Node row) {
    return Node.of(new AddToRow(), rows, number, row);
  }

  @Override
  public Type infer(List<Type> inputs) {
    if (!RowNumber.row(this, inputs).equals(inputs.get(2))) {
      throw new ShapeException(
          this, "a tensor [rows, ..], the number of a row and a row [..]", inputs);
    }
    return inputs.getFirst();
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node rows = inputs.getFirst();
    Node mask = RowNumber.mask(inputs.get(1), rows.shape());
    return rows.add(mask.select(inputs.get(2), Node.constant(0)));
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    Node row = RowAt.of(gradient, node.input(1));
    return Optional.of(List.of(gradient, Node.constant(0), row));
  }

  @Override
  public void addTo(Tensor target, List<Tensor> others) {
    int row = RowNumber.of(others.getFirst().get(0), target.shape().extent(0));
    if (row < 0) {
      return;
    }
    MemorySegment to = target.segment();
    MemorySegment added = others.get(1).segment();
    int width = others.get(1).shape().elements();
    long first = (long) row * width;
    for (int i = 0; i < width; i++) {
      float sum = to.getAtIndex(FLOAT, first + i) + added.getAtIndex(FLOAT, i);
      to.setAtIndex(FLOAT, first + i, sum);
    }
  }
}
