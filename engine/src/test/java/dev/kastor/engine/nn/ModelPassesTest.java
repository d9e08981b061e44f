package dev.kastor.engine.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.reference.ReferenceBackend;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Primitive;
import dev.kastor.engine.graph.pass.GraphPasses;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.op.Recurrent;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Models with graph passes switched: what they compile, and that their gradients stay the same. */
class ModelPassesTest {
  private static final Network NETWORK =
      new RecurrentLanguageModel(6, 4, 3, 2, Recurrent.Cell.LSTM);
  private static final Batch BATCH =
      new Batch(
          2,
          new float[] {0, 1, 2, 3, 0, 1, 3, 3, 2, 1, 0, 2},
          new int[] {1, 2, 3, 0, 1, 2, 3, 2, 1, 0, 2, 1});

  /** The reference backend, which tells how large the compiled products are. */
  private static final class Counting implements Backend {
    private final Backend reference = new ReferenceBackend();
    private final List<Integer> rows = new ArrayList<>();

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public Executable compile(Graph graph, SegmentAllocator memory) {
      graph.topological().stream()
          .filter(node -> node.op() instanceof Primitive.MatMul)
          .map(node -> node.input(0).shape().extent(0))
          .forEach(rows::add);
      return reference.compile(graph, memory);
    }
  }

  private static float[] gradient(Backend backend, PassPipeline passes) {
    try (GraphModel model = new GraphModel(NETWORK, backend, passes, 3)) {
      float[] gradient = new float[model.parameters().length];
      model.pass(BATCH, gradient, new float[model.statistics().length]);
      return gradient;
    }
  }

  private static PassPipeline tables(boolean on) {
    return new PassPipeline(GraphPasses.BUILT_IN.all(), Map.of("tableProducts", on));
  }

  @Test
  void aPassThatIsOffIsNotApplied() {
    Counting usual = new Counting();
    Counting off = new Counting();
    float[] with = gradient(usual, PassPipeline.USUAL);
    float[] without = gradient(off, tables(false));
    assertThat(off.rows).isNotEmpty().isNotEqualTo(usual.rows);
    for (int i = 0; i < with.length; i++) {
      assertThat(without[i]).isCloseTo(with[i], within(1e-6f));
    }
  }

  @Test
  void aPassThatPaysIsOnWhereNobodySwitchesIt() {
    assertThat(gradient(new ReferenceBackend(), tables(true)))
        .containsExactly(gradient(new ReferenceBackend(), PassPipeline.USUAL));
  }
}
