package dev.kastor.engine.nn;

import dev.kastor.engine.backend.DeviceVector;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.exec.GraphExecutor;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Graph over whole vectors of a device: what it stores stays there, its other results do not. */
final class VectorGraph {
  private final Map<DeviceVector, Node> leaves = new LinkedHashMap<>();
  private final List<Node> results = new ArrayList<>();
  private final Map<Integer, DeviceVector.Place> stored = new HashMap<>();

  /** The values of a vector before the run. */
  Node of(DeviceVector vector) {
    return leaves.computeIfAbsent(
        vector,
        key -> Node.input("vector" + leaves.size(), new Type(key.whole().shape(), DType.F32)));
  }

  /** Makes a value that of a vector. */
  void store(Node value, DeviceVector vector) {
    stored.put(results.size(), vector.whole());
    results.add(value);
  }

  /** Adds sums of the products of elements, one for each row. */
  void sums(Node one, Node other) {
    results.add(one.multiply(other).sum(1, 2));
  }

  Compiled compile(GraphExecutor executor) {
    Map<Node, DeviceVector.Place> places = new HashMap<>();
    leaves.forEach((vector, leaf) -> places.put(leaf, vector.whole()));
    return new Compiled(
        executor.compile(new Graph(results), new Residence(places, stored)), stored.keySet());
  }

  /**
   * Compiled graph.
   *
   * @param stored numbers of results that are not read
   */
  record Compiled(Executable executable, Set<Integer> stored) implements AutoCloseable {
    Compiled {
      stored = Set.copyOf(stored);
    }

    /** Sets a number that the graph has as an input. */
    void set(Node input, float value) {
      executable.input(input).write(new float[] {value}, 0);
    }

    void run() {
      executable.run(result -> !stored.contains(result), _ -> {});
    }

    /** The sum, in double precision, of the sums of rows. */
    double sum(int result) {
      double sum = 0;
      for (float row : executable.output(result).floats()) {
        sum += row;
      }
      return sum;
    }

    @Override
    public void close() {
      executable.close();
    }
  }
}
