package dev.kastor.engine.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import java.util.Map;
import org.apache.commons.math3.special.Erf;
import org.junit.jupiter.api.Test;

class GeluTest {
  /**
   * The form with a hyperbolic tangent is near x times the normal distribution, not equal to it.
   */
  @Test
  void weighsByTheNormalDistribution() {
    double[] x = {-5, -2, -1, -0.1, 0, 0.1, 1, 2, 5};
    Node input = Node.input("x", Type.f32(x.length));
    double[] y =
        new ReferenceBackend()
            .evaluate(Graph.of(Node.of(new Gelu(), input)), Map.of(input, x))
            .getFirst();
    for (int i = 0; i < x.length; i++) {
      double exact = x[i] / 2 * (1 + Erf.erf(x[i] / Math.sqrt(2)));
      assertThat(y[i]).as("at %s", x[i]).isCloseTo(exact, within(5e-4));
    }
    assertThat(y[4]).isZero();
  }
}
