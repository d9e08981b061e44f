package dev.kastor.engine.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.nn.Cnn;
import dev.kastor.engine.nn.ConvNet;
import dev.kastor.engine.nn.DynamicRecurrence;
import dev.kastor.engine.nn.Initial;
import dev.kastor.engine.nn.Layers;
import dev.kastor.engine.nn.Mlp;
import dev.kastor.engine.nn.Network;
import dev.kastor.engine.nn.RecurrentLanguageModel;
import dev.kastor.engine.nn.ResNet;
import dev.kastor.engine.nn.SentenceClassifier;
import dev.kastor.engine.nn.TransformerLanguageModel;
import dev.kastor.engine.nn.WideAndDeep;
import dev.kastor.engine.op.Gelu;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Shape;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Networks that anybody can build, with any values, compute the same in ONNX Runtime. */
final class OnnxNetworksIT {
  private static final int EXAMPLES = 100;

  /** A network of one example of a few floats, whose logits a test makes up. */
  private record Small(Logits body) implements Network {
    private interface Logits {
      Node of(Layers layers, Node features);
    }

    @Override
    public Type example() {
      return Type.f32(3, 4);
    }

    @Override
    public int positions() {
      return 1;
    }

    @Override
    public int classes() {
      return 4;
    }

    @Override
    public Node logits(Layers layers, Node features) {
      return body.of(layers, features);
    }
  }

  private static final Network MISCELLANEOUS =
      new Small((layers, x) -> {
        int batch = x.shape().extent(0);
        Node odd = Node.iota(Shape.of(batch, 3, 4), 2).greater(Node.constant(1));
        Node y = odd.select(x.exp().sqrt(), x.negate().tanh()).add(x.sigmoid());
        y = Node.of(new Gelu(), y).divide(y.maximum(y.multiply(0.5)).add(3).log().add(2));
        y = y.pad(1, 1, 0).slice(1, 0, 3).permute(0, 2, 1);
        Node weight = layers.parameter("w", Shape.of(4, 4, 3), Initial.ONES);
        y = y.matMul(weight.broadcast(Shape.of(batch, 4, 4, 3)).maximum(3, 4), true, true);
        return y.maximum(1, 2).matMul(layers.parameter("v", Shape.of(4, 4), Initial.ONES));
      });

  static Stream<Network> networks() {
    return Stream.of(
        new Mlp(20, List.of(17, 9), 5),
        new Mlp(5, List.of(7, 5), 7),
        new ConvNet(2, 8, 8, 4, List.of(6, 16)),
        new Cnn(2, 8, 8, 4, List.of(6, 8), 12),
        new ResNet(3, 8, 8, 4, 6, List.of(1, 2)),
        TransformerLanguageModel.ofBytes(12, 16, 4, 2),
        new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.LSTM),
        new RecurrentLanguageModel(7, 20, 6, 16, Recurrent.Cell.GRU),
        new SentenceClassifier(7, 6, 16, Recurrent.Cell.LSTM, 20, false),
        new SentenceClassifier(7, 6, 16, Recurrent.Cell.GRU, 20, false),
        new WideAndDeep(3, 2, 12, 20, 4, List.of(16), 4));
  }

  @ParameterizedTest
  @MethodSource("networks")
  void everyNetworkAgrees(Network network) throws Exception {
    agrees(network);
  }

  private static void agrees(Network network) throws Exception {
    SplittableRandom random = new SplittableRandom(2);
    float[] features = new float[EXAMPLES * network.example().shape().elements()];
    for (int i = 0; i < features.length; i++) {
      features[i] =
          network.example().dtype() == DType.I32
              ? random.nextInt(network.classes())
              : (float) random.nextDouble(-1, 1);
    }
    try (OnnxSession session = new OnnxSession(Trained.random(network, 1))) {
      OnnxSession.Agreement agreement =
          session.compare(new ReferenceBackend(), features, features, EXAMPLES);
      assertThat(agreement.difference()).isLessThan(1e-4);
      assertThat(agreement.positions()).isEqualTo(EXAMPLES * network.positions());
    }
  }

  @Test
  void everyPrimitiveOfInferenceAgrees() throws Exception {
    agrees(MISCELLANEOUS);
  }

  @Test
  void classesBecomeOneAmongZeros() throws Exception {
    agrees(
        new Network() {
          @Override
          public Type example() {
            return new Type(Shape.of(6), DType.I32);
          }

          @Override
          public int positions() {
            return 6;
          }

          @Override
          public int classes() {
            return 5;
          }

          @Override
          public Node logits(Layers layers, Node tokens) {
            Node single = Node.of(new Primitive.OneHot(5), tokens);
            return layers.dense("head", single, 5).reshape(tokens.shape().elements(), 5);
          }
        });
  }

  @Test
  void loopsAreRefusedByName() {
    Network loop =
        new Small((layers, x) -> {
          Node time = x.permute(1, 0, 2);
          Node lengths = x.sum(1, 3);
          Node state = Node.constant(0).broadcast(Shape.of(x.shape().extent(0), 4));
          return DynamicRecurrence.of(
                  time,
                  lengths,
                  List.of(state),
                  (input, states) -> List.of(input.add(states.getFirst())))
              .states()
              .getFirst();
        });
    assertThatThrownBy(() -> ExportFormat.ONNX.of(Trained.random(loop, 1)))
        .isInstanceOf(ExportException.class)
        .hasMessageContaining("cannot have")
        .hasMessageContaining("safetensors");
  }

  @Test
  void whatDependsOnTheNumberOfExamplesIsRefused() {
    Network mean = new Small((layers, x) -> x.sum(1, 2).subtract(x.sum(1, 2).mean(0, 1)));
    assertThatThrownBy(() -> ExportFormat.ONNX.of(Trained.random(mean, 1)))
        .isInstanceOf(ExportException.class)
        .hasMessageContaining("only shapes may depend");
  }
}
