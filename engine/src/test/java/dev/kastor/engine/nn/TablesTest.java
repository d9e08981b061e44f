package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.op.Recurrent;
import dev.kastor.engine.tensor.DType;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.tensor.Shape;
import dev.kastor.engine.tensor.Touched;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

class TablesTest {
  private static final int COLUMNS = 3;
  private static final int PAIRS = 2;
  private static final int COLUMN_TOKENS = 24;
  private static final int TOKENS = 44;
  private static final WideAndDeep NETWORK =
      new WideAndDeep(COLUMNS, PAIRS, COLUMN_TOKENS, TOKENS, 4, List.of(5), 3);

  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(3);

  private Batch batch(int examples) {
    float[] features = new float[examples * (COLUMNS + PAIRS)];
    for (int i = 0; i < features.length; i++) {
      boolean column = i % (COLUMNS + PAIRS) < COLUMNS;
      features[i] =
          column
              ? random.nextInt(COLUMN_TOKENS)
              : COLUMN_TOKENS + random.nextInt(TOKENS - COLUMN_TOKENS);
    }
    int[] targets = random.ints(examples, 0, 3).toArray();
    return new Batch(examples, features, targets);
  }

  @Test
  void theGradientIsZeroInRowsThatAreNotTouched() {
    try (GraphModel model = new GraphModel(NETWORK, new ReferenceBackend(), 1)) {
      Batch batch = batch(4);
      float[] gradient = new float[model.layout().elements()];
      model.pass(batch, gradient, new float[0]);
      List<Touched> touched = model.tables().touched(batch.features());
      assertThat(names(model, touched)).containsExactlyInAnyOrder("wide", "embedding");
      int untouched = 0;
      for (Touched table : touched) {
        Layout.Entry entry = model.layout().entries().get(table.entry());
        int width = entry.shape().extent(1);
        for (int row = 0; row < entry.shape().extent(0); row++) {
          int from = entry.offset() + row * width;
          if (Arrays.binarySearch(table.rows(), row) < 0) {
            untouched++;
            for (int i = from; i < from + width; i++) {
              assertThat(Float.floatToRawIntBits(gradient[i])).isZero();
            }
          }
        }
      }
      assertThat(untouched).isGreaterThan(TOKENS / 2);
    }
  }

  /** A pass with the touched rows alone computes the same. */
  @Test
  void otherRowsAreNotRead() {
    try (GraphModel model = new GraphModel(NETWORK, new ReferenceBackend(), 1)) {
      Batch batch = batch(4);
      float[] usual = new float[model.layout().elements()];
      double loss = model.pass(batch, usual, new float[0]);
      for (Touched table : model.tables().touched(batch.features())) {
        Layout.Entry entry = model.layout().entries().get(table.entry());
        int width = entry.shape().extent(1);
        for (int row = 0; row < entry.shape().extent(0); row++) {
          if (Arrays.binarySearch(table.rows(), row) < 0) {
            int from = entry.offset() + row * width;
            Arrays.fill(model.parameters(), from, from + width, Float.NaN);
          }
        }
      }
      float[] again = new float[usual.length];
      assertThat(model.pass(batch, again, new float[0])).isEqualTo(loss);
      assertThat(again).isEqualTo(usual);
    }
  }

  @Test
  void whatIsUsedOtherwiseIsNoTable() {
    assertThat(tables(new Tied()).isEmpty()).isTrue();
    assertThat(tables(new Mlp(4, List.of(3), 2)).isEmpty()).isTrue();
    assertThat(tables(new SentenceClassifier(8, 4, 4, Recurrent.Cell.GRU, 2, true)).isEmpty())
        .as("control flow")
        .isTrue();
  }

  private static List<String> names(GraphModel model, List<Touched> touched) {
    return touched.stream().map(each -> model.layout().entries().get(each.entry()).name()).toList();
  }

  private static Tables tables(Network network) {
    try (GraphModel model = new GraphModel(network, new ReferenceBackend(), 1)) {
      return model.tables();
    }
  }

  /** A network whose table is its last layer, too. */
  private record Tied() implements Network {
    @Override
    public Type example() {
      return new Type(Shape.of(2), DType.I32);
    }

    @Override
    public int classes() {
      return 6;
    }

    @Override
    public int positions() {
      return 2;
    }

    @Override
    public Node logits(Layers layers, Node features) {
      Node table = layers.parameter("table", Shape.of(6, 3), Initial.uniform(0.05));
      return table
          .gather(features)
          .reshape(features.shape().elements(), 3)
          .matMul(table, false, true);
    }
  }
}
