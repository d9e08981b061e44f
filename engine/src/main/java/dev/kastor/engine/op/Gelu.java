package dev.kastor.engine.op;

import dev.kastor.engine.graph.Fused;
import dev.kastor.engine.graph.Node;
import java.util.List;

/**
 * The Gaussian error linear unit of each element, in the form with a hyperbolic tangent (Hendrycks
 * and Gimpel, 2016, section 2): {@code x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))}.
 */
public record Gelu() implements Fused {
  private static final double SCALE = Math.sqrt(2 / Math.PI);
  private static final double CUBIC = 0.044715;

  @Override
  public Node decompose(List<Node> inputs) {
    Node x = inputs.getFirst();
    Node cubic = x.multiply(x).multiply(CUBIC).add(1).multiply(x);
    return x.multiply(0.5).multiply(cubic.multiply(SCALE).tanh().add(1));
  }
}
