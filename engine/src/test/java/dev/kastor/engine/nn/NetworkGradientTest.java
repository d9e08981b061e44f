package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.autodiff.Gradients;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.op.SoftmaxCrossEntropy;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whole networks in double precision: their gradients are those of their losses. */
class NetworkGradientTest {
  private static final int EXAMPLES = 3;
  private static final double STEP = 1e-5;

  private final ReferenceBackend reference = new ReferenceBackend();
  private final SplittableRandom random = new SplittableRandom(21);

  static Stream<Network> networks() {
    return Stream.of(
        new Cnn(2, 4, 4, 3, List.of(3), 5),
        new ResNet(2, 5, 4, 3, 2, List.of(1, 2)),
        new RecurrentLanguageModel(5, 6, 3, 2, Recurrent.Cell.LSTM),
        new RecurrentLanguageModel(5, 6, 3, 2, Recurrent.Cell.GRU),
        new SentenceClassifier(5, 3, 2, Recurrent.Cell.LSTM, 4, true),
        new SentenceClassifier(5, 3, 2, Recurrent.Cell.GRU, 4, false),
        new WideAndDeep(2, 1, 6, 9, 3, List.of(4), 5));
  }

  @Tag("slow")
  @ParameterizedTest
  @MethodSource("networks")
  void gradientAgreesWithCentralDifferences(Network network) {
    Layers layers = new Layers(true);
    Node features = Forward.features(network, EXAMPLES);
    Node targets =
        Node.input("targets", new Type(Shape.of(EXAMPLES * network.positions()), DType.I32));
    Node logits = network.logits(layers, features);
    assertThat(logits.shape())
        .isEqualTo(Shape.of(EXAMPLES * network.positions(), network.classes()));
    Node loss = Node.of(new SoftmaxCrossEntropy(), logits, targets).mean(0, 1);
    List<Node> weights = layers.weights().stream().map(Layers.Weight::node).toList();

    Map<Node, double[]> values = new HashMap<>();
    values.put(features, features.isFloat() ? floats(features) : tokens(features, network));
    values.put(targets, tokens(targets, network));
    weights.forEach(weight -> values.put(weight, floats(weight)));
    List<double[]> gradients = reference.evaluate(new Graph(Gradients.of(loss, weights)), values);
    for (int i = 0; i < weights.size(); i++) {
      double[] x = Objects.requireNonNull(values.get(weights.get(i)));
      for (int j = 0; j < x.length; j += 1 + x.length / 12) {
        double at = x[j];
        x[j] = at + STEP;
        double above = reference.evaluate(Graph.of(loss), values).getFirst()[0];
        x[j] = at - STEP;
        double below = reference.evaluate(Graph.of(loss), values).getFirst()[0];
        x[j] = at;
        assertThat(gradients.get(i)[j])
            .as("%s, element %d", weights.get(i), j)
            .isCloseTo((above - below) / (2 * STEP), within(1e-6));
      }
    }
  }

  private double[] floats(Node node) {
    return random.doubles(node.shape().elements(), -1, 1).toArray();
  }

  private double[] tokens(Node node, Network network) {
    return random.ints(node.shape().elements(), 0, network.classes()).asDoubleStream().toArray();
  }
}
