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
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Kernels over a slab on a GPU. In each run inputs are copied to it before the first kernel, and
 * outputs from it as soon as they are complete; what stays on the GPU lies beside the slab.
 */
final class CudaExecutable implements Executable {
  private final Gpu gpu;
  private final Compilation compilation;
  private final SegmentAllocator memory;
  private final List<Node> outputs;
  private final Residents residents;
  private final Map<Node, Tensor> inputs = new HashMap<>();

  /** Null until somebody asks for an output that stays. */
  private final List<@Nullable Tensor> results = new ArrayList<>();

  private final long slab;
  private final Gpu.Module module;
  private final List<Part> parts = new ArrayList<>();

  /** A piece of the graph as the GPU runs it, and the event of its end. */
  private record Part(Gpu.Sequence sequence, Gpu.Event done, List<Integer> outputs) {}

  /**
   * Takes memory and prepares all.
   *
   * @param memory for inputs and outputs on the host
   * @param compilation of the graph of what stays
   * @param pieceBytes of output that are handed out at once: {@link Piece#cut}
   * @throws OutOfGpuMemoryException if the graph does not fit
   */
  CudaExecutable(
      Gpu gpu,
      Compilation compilation,
      Residents residents,
      SegmentAllocator memory,
      long pieceBytes) {
    this.gpu = gpu;
    this.compilation = compilation;
    this.memory = memory;
    this.residents = residents;
    this.outputs = residents.graph().outputs();
    residents.check(compilation.tasks());
    compilation.leaves().stream()
        .filter(leaf -> !residents.leaves().containsKey(leaf))
        .forEach(leaf -> inputs.put(leaf, tensor(leaf)));
    for (int i = 0; i < outputs.size(); i++) {
      results.add(residents.numbers().contains(i) ? null : tensor(outputs.get(i)));
    }
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
        outputs.stream().map(CudaExecutable::bytes).toList(),
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
    return new Gpu.Call(task, task.parameters().stream().map(this::address).toList());
  }

  private long address(Node node) {
    Node base = Compilation.base(node);
    CudaVector.Place place = residents.leaves().get(base);
    if (place == null) {
      place = residents.outputs().get(base);
    }
    return place == null ? slab + compilation.offset(base) : place.address();
  }

  private static long bytes(Node node) {
    return (long) node.shape().elements() * node.type().dtype().bytes();
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
    Tensor own = output(index);
    results.set(index, new Tensor(segment, own.shape(), own.dtype()));
    return true;
  }

  @Override
  public void run(IntConsumer finished) {
    run(_ -> true, finished);
  }

  @Override
  public void run(IntPredicate wanted, IntConsumer finished) {
    inputs.forEach((leaf, tensor) -> gpu.copyIn(address(leaf), values(tensor)));
    for (Part part : parts) {
      part.sequence.run();
      part.done.record();
    }
    for (Part part : parts) {
      List<Integer> copied = part.outputs.stream().filter(wanted::test).toList();
      for (int i : copied) {
        gpu.copyOut(values(output(i)), address(outputs.get(i)), part.done);
      }
      if (!copied.isEmpty()) {
        gpu.awaitCopies();
      }
      copied.forEach(finished::accept);
    }
    gpu.await();
  }

  /** A segment may be longer than the tensor in it. */
  private static MemorySegment values(Tensor tensor) {
    return tensor.segment().asSlice(0, (long) tensor.shape().elements() * tensor.dtype().bytes());
  }

  @Override
  public Tensor output(int index) {
    Tensor tensor = results.get(index);
    if (tensor == null) {
      tensor = tensor(outputs.get(index));
      results.set(index, tensor);
    }
    return tensor;
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
