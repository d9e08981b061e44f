package dev.kastor.engine.nn;

import dev.kastor.engine.graph.ControlFlow;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.op.AddToRow;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.op.RowAt;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A recurrent layer as a loop over the positions of sequences whose lengths are known at run time
 * (Yu et al., EuroSys 2018, section 2.2): as many steps as the longest in the batch has. Where all
 * are as long as the tensor, {@link Recurrent} is faster; on other backends than the CPU's a row
 * costs as much as all of them.
 */
public final class DynamicRecurrence {
  /** What is repeated. */
  @FunctionalInterface
  public interface Cell {
    /**
     * One step.
     *
     * @param input the position's values, {@code [batch, ..]}
     * @param states those before, {@code [batch, ..]} each
     * @return the states after, of the same types; the first is also what the layer gives
     */
    List<Node> step(Node input, List<Node> states);
  }

  /**
   * What came out.
   *
   * @param outputs the first state at each position, {@code [time, batch, ..]}; zeros from an
   *     example's end on
   * @param states those at the end of each example, {@code [batch, ..]}
   */
  public record Result(Node outputs, List<Node> states) {}

  private DynamicRecurrence() {}

  /**
   * A layer of any cell.
   *
   * @param inputs {@code [time, batch, ..]}; anything beyond an example's end
   * @param lengths how many positions each example has, {@code [batch]}
   * @param initial the states before the first position
   */
  public static Result of(Node inputs, Node lengths, List<Node> initial, Cell cell) {
    int time = inputs.shape().extent(0);
    List<Node> carried = new ArrayList<>();
    carried.add(Node.constant(0));
    carried.add(Node.constant(0).broadcast(outputs(time, initial.getFirst().shape())));
    carried.addAll(initial);
    Node longest = lengths.maximum(0, 1);
    List<Node> last =
        ControlFlow.loop(
            carried,
            values -> {
              Node position = values.getFirst();
              return longest.greater(position).multiply(Node.constant(time).greater(position));
            },
            values -> {
              Node position = values.get(0);
              List<Node> before = values.subList(2, values.size());
              Node lasts = lengths.greater(position);
              // Whatever lies beyond an example's end, nothing comes of it, gradients included.
              Node input = where(lasts, RowAt.of(inputs, position), Node.constant(0));
              List<Node> after = cell.step(input, before);
              Node output = where(lasts, after.getFirst(), Node.constant(0));
              List<Node> next = new ArrayList<>();
              next.add(position.add(1));
              next.add(AddToRow.of(values.get(1), position, output));
              for (int i = 0; i < before.size(); i++) {
                next.add(where(lasts, after.get(i), before.get(i)));
              }
              return next;
            });
    return new Result(last.get(1), last.subList(2, last.size()));
  }

  /**
   * A layer of LSTMs or GRUs, from states of zeros.
   *
   * @param projected what each position contributes, {@code [time, batch, gates * hidden]}
   * @param weights of the state, {@code [hidden, gates * hidden]}
   * @param bias {@code [gates * hidden]}
   */
  public static Result of(
      Recurrent.Cell cell, Node projected, Node weights, Node bias, Node lengths) {
    Shape state = Shape.of(projected.shape().extent(1), weights.shape().extent(0));
    Node zeros = Node.constant(0).broadcast(state);
    boolean remembers = cell == Recurrent.Cell.LSTM;
    return of(
        projected,
        lengths,
        remembers ? List.of(zeros, zeros) : List.of(zeros),
        (x, states) -> {
          Node h = states.getFirst();
          Node product = h.matMul(weights).add(bias);
          List<Node> parts = cell.step(x, product, h, states.getLast());
          Node memory = parts.get(parts.size() - 2);
          return remembers ? List.of(parts.getLast(), memory) : List.of(parts.getLast());
        });
  }

  private static Shape outputs(int time, Shape state) {
    int[] extents = new int[state.rank() + 1];
    extents[0] = time;
    System.arraycopy(state.extents(), 0, extents, 1, state.rank());
    return Shape.of(extents);
  }

  /** One or the other value of each example. */
  private static Node where(Node examples, Node yes, Node no) {
    int[] extents = new int[yes.shape().rank()];
    Arrays.fill(extents, 1);
    extents[0] = examples.shape().extent(0);
    return examples.reshape(extents).select(yes, no);
  }
}
