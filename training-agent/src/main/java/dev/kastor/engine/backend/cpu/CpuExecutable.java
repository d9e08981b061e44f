package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.util.List;
import java.util.Map;

/** Kernels in order over one slab of memory. */
final class CpuExecutable implements Executable {
  private final OneDnn oneDnn;
  private final Map<Node, Tensor> inputs;
  private final List<Kernel> kernels;
  private final List<Tensor> outputs;

  CpuExecutable(
      OneDnn oneDnn, Map<Node, Tensor> inputs, List<Kernel> kernels, List<Tensor> outputs) {
    this.oneDnn = oneDnn;
    this.inputs = Map.copyOf(inputs);
    this.kernels = List.copyOf(kernels);
    this.outputs = List.copyOf(outputs);
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
  public void run() {
    oneDnn.boundThreads();
    for (Kernel kernel : kernels) {
      kernel.run();
    }
  }

  @Override
  public Tensor output(int index) {
    return outputs.get(index);
  }

  @Override
  public void close() {
    kernels.forEach(Kernel::close);
  }
}
