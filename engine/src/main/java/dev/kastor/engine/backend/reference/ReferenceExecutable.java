package dev.kastor.engine.backend.reference;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

final class ReferenceExecutable implements Executable {
  private final Graph graph;
  private final Map<Node, Tensor> inputs = new HashMap<>();
  private final List<Tensor> outputs = new ArrayList<>();

  ReferenceExecutable(Graph graph, SegmentAllocator memory) {
    this.graph = graph;
    for (Node leaf : graph.leaves()) {
      inputs.put(leaf, Tensor.allocate(memory, leaf.shape(), leaf.type().dtype()));
    }
    for (Node output : graph.outputs()) {
      outputs.add(Tensor.allocate(memory, output.shape(), output.type().dtype()));
    }
  }

  @Override
  public Tensor input(Node leaf) {
    Tensor tensor = inputs.get(leaf);
    if (tensor == null) {
      throw new IllegalArgumentException("The graph does not depend on " + leaf + ".");
    }
    return tensor;
  }

  @Override
  public void bind(Node leaf, MemorySegment segment) {
    Tensor own = input(leaf);
    inputs.put(leaf, new Tensor(segment, own.shape(), own.dtype()));
  }

  @Override
  public boolean bindOutput(int index, MemorySegment segment) {
    Tensor own = outputs.get(index);
    outputs.set(index, new Tensor(segment, own.shape(), own.dtype()));
    return true;
  }

  @Override
  public void run(IntConsumer finished) {
    Map<Node, double[]> leaves = new HashMap<>();
    inputs.forEach((leaf, tensor) -> leaves.put(leaf, read(tensor)));
    List<double[]> values = Interpreter.evaluate(graph, leaves);
    for (int i = 0; i < outputs.size(); i++) {
      write(values.get(i), outputs.get(i));
      finished.accept(i);
    }
  }

  @Override
  public Tensor output(int index) {
    return outputs.get(index);
  }

  @Override
  public void close() {}

  private static double[] read(Tensor tensor) {
    double[] values = new double[tensor.shape().elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (tensor.dtype()) {
            case F32 -> tensor.segment().getAtIndex(ValueLayout.JAVA_FLOAT, i);
            case I32 -> tensor.segment().getAtIndex(ValueLayout.JAVA_INT, i);
          };
    }
    return values;
  }

  private static void write(double[] values, Tensor tensor) {
    for (int i = 0; i < values.length; i++) {
      switch (tensor.dtype()) {
        case F32 -> tensor.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) values[i]);
        case I32 -> tensor.segment().setAtIndex(ValueLayout.JAVA_INT, i, (int) values[i]);
      }
    }
  }
}
