package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A recurrent layer over a sequence, from a state of zeros. Inputs: what each position contributes
 * {@code [time, batch, gates * hidden]}, the weights of the state {@code [hidden, gates * hidden]}
 * and its bias {@code [gates * hidden]}. Result: everything that a step computes, {@code [time,
 * batch, parts * hidden]}; {@link #output} takes the state from it.
 *
 * <p>LSTM (Hochreiter and Schmidhuber, 1997, with forget gates): gates and parts i, f, g, o, then c
 * and h. GRU (Cho et al., 2014, with the reset gate behind the product, as cuDNN has it): r, z, n,
 * then what the state contributes to n, and h.
 */
public record Recurrent(Recurrent.Cell cell) implements Fused {
  /** Which layer. */
  public enum Cell {
    LSTM(4, 6),
    GRU(3, 5);

    private final int gates;
    private final int parts;

    Cell(int gates, int parts) {
      this.gates = gates;
      this.parts = parts;
    }

    /** Products with the state in each step. */
    public int gates() {
      return gates;
    }

    /** What a step computes, the state last. */
    public int parts() {
      return parts;
    }

    /**
     * What one step computes, each {@code [batch, hidden]}; for an LSTM the memory comes last but
     * one.
     *
     * @param x what the position contributes, {@code [batch, gates * hidden]}
     * @param product of the state before and its weights, with the bias
     * @param h the state before
     * @param c the memory before, which a GRU has not and does not look at
     */
    public List<Node> step(Node x, Node product, Node h, Node c) {
      int hidden = h.shape().extent(-1);
      return switch (this) {
        case LSTM -> lstm(x.add(product), c, hidden);
        case GRU -> gru(x, product, h, hidden);
      };
    }
  }

  /** The state at each position, {@code [time, batch, hidden]}, from the result. */
  public static Node output(Node states) {
    Cell cell = ((Recurrent) states.op()).cell;
    int hidden = states.shape().extent(2) / cell.parts;
    return states.slice(2, (cell.parts - 1) * hidden, cell.parts * hidden);
  }

  @Override
  public Type infer(List<Type> inputs) {
    boolean fits = inputs.size() == 3 && inputs.getFirst().shape().rank() == 3;
    if (fits) {
      int width = inputs.getFirst().shape().extent(2);
      Shape weights = Shape.of(Math.max(1, width / cell.gates), width);
      fits =
          width % cell.gates == 0
              && inputs.get(1).equals(Type.f32(weights))
              && inputs.get(2).equals(Type.f32(width));
    }
    if (!fits) {
      throw new ShapeException(
          this, "[time, batch, gates * hidden], [hidden, gates * hidden] and a bias", inputs);
    }
    Shape first = inputs.getFirst().shape();
    return Type.f32(first.with(2, first.extent(2) / cell.gates * cell.parts));
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node projected = inputs.get(0);
    int time = projected.shape().extent(0);
    int batch = projected.shape().extent(1);
    int width = projected.shape().extent(2);
    int hidden = width / cell.gates;
    Node h = Node.constant(0).broadcast(Shape.of(batch, hidden));
    Node c = h;
    List<Node> steps = new ArrayList<>();
    for (int t = 0; t < time; t++) {
      Node x = projected.slice(0, t, t + 1).reshape(batch, width);
      Node product = h.matMul(inputs.get(1)).add(inputs.get(2));
      List<Node> parts = cell.step(x, product, h, c);
      c = parts.get(parts.size() - 2);
      h = parts.getLast();
      steps.add(Joined.of(1, parts).reshape(1, batch, cell.parts * hidden));
    }
    return Joined.of(0, steps);
  }

  private static Node gate(Node of, int number, int hidden) {
    return of.slice(1, number * hidden, (number + 1) * hidden);
  }

  private static List<Node> lstm(Node sum, Node before, int hidden) {
    Node i = gate(sum, 0, hidden).sigmoid();
    Node f = gate(sum, 1, hidden).sigmoid();
    Node g = gate(sum, 2, hidden).tanh();
    Node o = gate(sum, 3, hidden).sigmoid();
    Node c = f.multiply(before).add(i.multiply(g));
    return List.of(i, f, g, o, c, o.multiply(c.tanh()));
  }

  private static List<Node> gru(Node x, Node s, Node before, int hidden) {
    Node r = gate(x, 0, hidden).add(gate(s, 0, hidden)).sigmoid();
    Node z = gate(x, 1, hidden).add(gate(s, 1, hidden)).sigmoid();
    Node q = gate(s, 2, hidden);
    Node n = gate(x, 2, hidden).add(r.multiply(q)).tanh();
    return List.of(r, z, n, q, n.add(z.multiply(before.subtract(n))));
  }

  /**
   * From the gradients of each step's products, {@code [time, batch, gates * hidden]}. Those of the
   * first step were with a state of zeros and have no part in it.
   */
  private static Node gradientOfWeights(Node node, Node weights, Node ofProducts) {
    int time = node.shape().extent(0);
    if (time == 1) {
      return Node.constant(0).broadcast(weights.shape());
    }
    int positions = (time - 1) * node.shape().extent(1);
    Node before = output(node).slice(0, 0, time - 1);
    return before
        .reshape(positions, weights.shape().extent(0))
        .matMul(
            ofProducts.slice(0, 1, time).reshape(positions, weights.shape().extent(1)),
            true,
            false);
  }

  @Override
  public Optional<List<Node>> gradients(Node node, Node gradient) {
    Node weights = node.input(1);
    int hidden = weights.shape().extent(0);
    int time = node.shape().extent(0);
    int positions = time * node.shape().extent(1);
    Node all = Node.of(new RecurrentGradient(cell), node, weights, gradient);
    Node projected = all;
    Node state = all;
    if (cell == Cell.GRU) {
      projected = all.slice(2, 0, 3 * hidden);
      Node gates = all.slice(2, 0, 2 * hidden).pad(2, 0, hidden);
      state = gates.add(all.slice(2, 3 * hidden, 4 * hidden).pad(2, 2 * hidden, 0));
    }
    Node flat = state.reshape(positions, cell.gates * hidden);
    return Optional.of(List.of(projected, gradientOfWeights(node, weights, state), flat.sum(0, 1)));
  }
}
