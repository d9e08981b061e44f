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

/**
 * Kernels over a slab on a GPU. In each run inputs are copied to it before the first kernel, and
 * outputs from it as soon as they are complete.
 */
final class CudaExecutable implements Executable {
  private final Gpu gpu;
  private final Compilation compilation;
  private final SegmentAllocator memory;
  private final List<Node> outputs;
  private final Map<Node, Tensor> inputs = new HashMap<>();
  private final List<Tensor> results = new ArrayList<>();
  private final long slab;
  private final Gpu.Module module;
  private final List<Part> parts = new ArrayList<>();

  /** A piece of the graph as the GPU runs it, and the event of its end. */
  private record Part(Gpu.Sequence sequence, Gpu.Event done, List<Integer> outputs) {}

  /**
   * Takes memory and prepares all.
   *
   * @param memory for inputs and outputs on the host
   * @param pieceBytes of output that are handed out at once: {@link Piece#cut}
   * @throws OutOfGpuMemoryException if the graph does not fit
   */
  CudaExecutable(
      Gpu gpu,
      Compilation compilation,
      List<Node> outputs,
      SegmentAllocator memory,
      long pieceBytes) {
    this.gpu = gpu;
    this.compilation = compilation;
    this.memory = memory;
    this.outputs = List.copyOf(outputs);
    compilation.leaves().keySet().forEach(leaf -> inputs.put(leaf, tensor(leaf)));
    outputs.forEach(output -> results.add(tensor(output)));
    slab = slab();
    try {
      module = gpu.load(compilation.module());
    } catch (RuntimeException | Error e) {
      gpu.free(slab);
      throw e;
    }
    try {
      pieces(pieceBytes).forEach(this::prepare);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private long slab() {
    try {
      return gpu.allocate(Math.max(compilation.bytes(), Tensor.ALIGNMENT));
    } catch (OutOfGpuMemoryException e) {
      throw new OutOfGpuMemoryException(
          "A graph does not fit: %s Its largest value is %s."
              .formatted(e.getMessage(), compilation.largest()));
    }
  }

  private List<Piece> pieces(long pieceBytes) {
    return Piece.cut(
        compilation.tasks(),
        outputs.stream().map(compilation::doneBy).toList(),
        results.stream().map(result -> values(result).byteSize()).toList(),
        pieceBytes);
  }

  private void prepare(Piece piece) {
    Gpu.Event done = gpu.event();
    try {
      var sequence = module.sequence(piece.tasks().stream().map(this::call).toList());
      parts.add(new Part(sequence, done, piece.outputs()));
    } catch (RuntimeException | Error e) {
      done.close();
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
    for (Part part : parts) {
      part.sequence.run();
      part.done.record();
    }
    for (Part part : parts) {
      for (int i : part.outputs) {
        long address = slab + compilation.offset(outputs.get(i));
        gpu.copyOut(values(results.get(i)), address, part.done);
      }
      gpu.awaitCopies();
      part.outputs.forEach(finished::accept);
    }
    gpu.await();
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
    // The rest even if one of them fails.
    try (Gpu.Module _ = module) {
      // A run that failed may have left some of both behind.
      gpu.await();
      gpu.awaitCopies();
      parts.forEach(part -> {
        try (Gpu.Event _ = part.done) {
          part.sequence.close();
        }
      });
    } finally {
      gpu.free(slab);
    }
  }
}
