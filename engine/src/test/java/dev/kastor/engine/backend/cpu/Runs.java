package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What backends make of the same random inputs. */
final class Runs {
  private Runs() {}

  /** The results of a graph, which is run twice: nothing of a run may be left for the next. */
  static List<float[]> twice(Backend backend, Graph graph, List<Node> inputs) {
    SplittableRandom random = new SplittableRandom(7);
    try (Executable executable = backend.compile(graph)) {
      for (Node input : inputs) {
        float[] values = new float[input.shape().elements()];
        for (int i = 0; i < values.length; i++) {
          values[i] = (float) random.nextDouble(-1, 1);
        }
        executable.input(input).write(values, 0);
      }
      executable.run();
      executable.run();
      List<float[]> results = new ArrayList<>();
      for (int o = 0; o < graph.outputs().size(); o++) {
        float[] values = new float[graph.outputs().get(o).shape().elements()];
        executable.output(o).read(values, 0);
        results.add(values);
      }
      return results;
    }
  }
}
