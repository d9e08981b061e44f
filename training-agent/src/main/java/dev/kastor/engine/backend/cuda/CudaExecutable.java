package dev.kastor.engine.backend.cuda;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/** Kernels over a slab on a GPU; inputs are copied to it and outputs from it in each run. */
final class CudaExecutable implements Executable {
  private final Gpu gpu;
  private final Compilation compilation;
  private final SegmentAllocator memory;
  private final List<Node> outputs;
  private final Map<Node, Tensor> inputs = new HashMap<>();
  private final List<Tensor> results = new ArrayList<>();
  private final long slab;
  private final Gpu.Module module;
  private final Gpu.Sequence sequence;

  CudaExecutable(Gpu gpu, Compilation compilation, List<Node> outputs, SegmentAllocator memory) {
    this.gpu = gpu;
    this.compilation = compilation;
    this.memory = memory;
    this.outputs = List.copyOf(outputs);
    compilation.leaves().keySet().forEach(leaf -> inputs.put(leaf, tensor(leaf)));
    outputs.forEach(output -> results.add(tensor(output)));
    slab = gpu.allocate(Math.max(compilation.bytes(), Tensor.ALIGNMENT));
    try {
      module = gpu.load(compilation.module());
    } catch (RuntimeException | Error e) {
      gpu.free(slab);
      throw e;
    }
    try {
      sequence = module.sequence(compilation.tasks().stream().map(this::call).toList());
    } catch (RuntimeException | Error e) {
      try (module) {
        gpu.free(slab);
      }
      throw e;
    }
  }

  private Tensor tensor(Node node) {
    return Tensor.allocate(memory, node.shape(), node.type().dtype());
  }

  private Gpu.Call call(Task task) {
    return new Gpu.Call(
        task, task.parameters().stream().map(node -> slab + compilation.offset(node)).toList());
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
    Tensor own = results.get(index);
    results.set(index, new Tensor(segment, own.shape(), own.dtype()));
    return true;
  }

  @Override
  public void run(IntConsumer finished) {
    compilation.leaves().forEach((leaf, offset) -> gpu.copyIn(slab + offset, values(input(leaf))));
    sequence.run();
    for (int i = 0; i < outputs.size(); i++) {
      gpu.copyOut(values(results.get(i)), slab + compilation.offset(outputs.get(i)));
    }
    gpu.await();
    for (int i = 0; i < outputs.size(); i++) {
      finished.accept(i);
    }
  }

  /** A segment may be longer than the tensor in it. */
  private static MemorySegment values(Tensor tensor) {
    return tensor.segment().asSlice(0, (long) tensor.shape().elements() * tensor.dtype().bytes());
  }

  @Override
  public Tensor output(int index) {
    return results.get(index);
  }

  @Override
  public void close() {
    // In this order, and the rest even if one of them fails.
    try (Gpu.Sequence _ = sequence;
        Gpu.Module _ = module) {
      gpu.await();
    } finally {
      gpu.free(slab);
    }
  }
}
