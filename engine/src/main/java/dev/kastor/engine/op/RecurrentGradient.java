package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.ShapeException;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * From a {@link Recurrent} layer's result {@code [time, batch, parts * hidden]}, its weights {@code
 * [hidden, gates * hidden]} and the gradient of the result to the gradients of what goes into its
 * functions, {@code [time, batch, 4 * hidden]}: of i, f, g, o, or of r, z, n and what the state
 * contributes to n.
 */
public record RecurrentGradient(Recurrent.Cell cell) implements Fused {
  @Override
  public Type infer(List<Type> inputs) {
    boolean fits =
        inputs.size() == 3
            && inputs.get(0).shape().rank() == 3
            && inputs.get(1).shape().rank() == 2
            && inputs.get(2).equals(inputs.get(0));
    if (fits) {
      int hidden = inputs.get(1).shape().extent(0);
      fits =
          inputs.get(0).shape().extent(2) == cell.parts() * hidden
              && inputs.get(1).equals(Type.f32(hidden, cell.gates() * hidden));
    }
    if (!fits) {
      throw new ShapeException(
          this, "a recurrent layer's result, its weights and a gradient", inputs);
    }
    return Type.f32(inputs.get(0).shape().with(2, 4 * inputs.get(1).shape().extent(0)));
  }

  @Override
  public Node decompose(List<Node> inputs) {
    Node states = inputs.get(0);
    int time = states.shape().extent(0);
    int batch = states.shape().extent(1);
    int hidden = inputs.get(1).shape().extent(0);
    Node zero = Node.constant(0).broadcast(Shape.of(batch, hidden));
    Node dh = zero;
    Node dc = zero;
    List<Node> steps = new ArrayList<>();
    for (int t = time - 1; t >= 0; t--) {
      List<Node> now = parts(states, t, hidden);
      List<Node> before =
          t == 0 ? now.stream().map(_ -> zero).toList() : parts(states, t - 1, hidden);
      List<Node> g = parts(inputs.get(2), t, hidden);
      dh = dh.add(g.getLast());
      List<Node> pulled;
      Node direct;
      if (cell == Recurrent.Cell.LSTM) {
        Node tanh = now.get(4).tanh();
        dc = dc.add(g.get(4)).add(dh.multiply(now.get(3)).multiply(tanhSlope(tanh)));
        pulled =
            List.of(
                dc.multiply(now.get(2)).add(g.get(0)).multiply(slope(now.get(0))),
                dc.multiply(before.get(4)).add(g.get(1)).multiply(slope(now.get(1))),
                dc.multiply(now.get(0)).add(g.get(2)).multiply(tanhSlope(now.get(2))),
                dh.multiply(tanh).add(g.get(3)).multiply(slope(now.get(3))));
        dc = dc.multiply(now.get(1));
        direct = zero;
      } else {
        Node z = now.get(1);
        Node dn =
            dh.multiply(Node.constant(1).subtract(z)).add(g.get(2)).multiply(tanhSlope(now.get(2)));
        Node dz = dh.multiply(before.get(4).subtract(now.get(2))).add(g.get(1)).multiply(slope(z));
        Node dr = dn.multiply(now.get(3)).add(g.get(0)).multiply(slope(now.get(0)));
        pulled = List.of(dr, dz, dn, dn.multiply(now.get(0)).add(g.get(3)));
        direct = dh.multiply(z);
      }
      steps.addFirst(Joined.of(1, pulled).reshape(1, batch, 4 * hidden));
      List<Node> state =
          cell == Recurrent.Cell.LSTM
              ? pulled
              : List.of(pulled.get(0), pulled.get(1), pulled.get(3));
      dh = Joined.of(1, state).matMul(inputs.get(1), false, true).add(direct);
    }
    return Joined.of(0, steps);
  }

  private List<Node> parts(Node of, int t, int hidden) {
    Node step = of.slice(0, t, t + 1).reshape(of.shape().extent(1), of.shape().extent(2));
    List<Node> parts = new ArrayList<>();
    for (int i = 0; i < cell.parts(); i++) {
      parts.add(step.slice(1, i * hidden, (i + 1) * hidden));
    }
    return parts;
  }

  private static Node slope(Node sigmoid) {
    return sigmoid.subtract(sigmoid.multiply(sigmoid));
  }

  private static Node tanhSlope(Node tanh) {
    return Node.constant(1).subtract(tanh.multiply(tanh));
  }
}
