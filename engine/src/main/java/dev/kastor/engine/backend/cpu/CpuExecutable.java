package dev.kastor.engine.backend.cpu;

import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/** Kernels in order over one slab of memory, and what is bound from outside. */
final class CpuExecutable implements Executable {
  /**
   * A result.
   *
   * @param own whether no leaf, constant or other result lies in its place
   * @param kernel the number of the one that writes it; -1 if it is there from the start
   */
  record Output(Type type, Place place, boolean own, int kernel) {}

  private final OneDnn oneDnn;
  private final SegmentAllocator memory;
  private final Map<Node, Place> inputs;
  private final List<Kernel> kernels;
  private final List<Output> outputs;

  /** Numbers of the outputs that are there before any kernel, after the first one, and so on. */
  private final int[][] finished;

  CpuExecutable(
      OneDnn oneDnn,
      SegmentAllocator memory,
      Map<Node, Place> inputs,
      List<Kernel> kernels,
      List<Output> outputs) {
    this.oneDnn = oneDnn;
    this.memory = memory;
    this.inputs = Map.copyOf(inputs);
    this.kernels = List.copyOf(kernels);
    this.outputs = List.copyOf(outputs);
    finished = new int[kernels.size() + 1][];
    for (int i = 0; i < finished.length; i++) {
      int kernel = i - 1;
      finished[i] =
          IntStream.range(0, outputs.size())
              .filter(output -> outputs.get(output).kernel == kernel)
              .toArray();
    }
  }

  @Override
  public Tensor input(Node leaf) {
    Place place = place(leaf);
    allocate(place);
    return new Tensor(place.segment(), leaf.shape(), leaf.type().dtype());
  }

  @Override
  public void bind(Node leaf, MemorySegment segment) {
    place(leaf).bind(segment);
  }

  private Place place(Node leaf) {
    Place place = inputs.get(leaf);
    if (place == null) {
      throw new IllegalArgumentException("The graph does not depend on " + leaf + ".");
    }
    return place;
  }

  private void allocate(Place place) {
    if (!place.isBound()) {
      place.bind(memory.allocate(Math.max(place.bytes(), Tensor.ALIGNMENT), Tensor.ALIGNMENT));
    }
  }

  @Override
  public void run(IntConsumer finished) {
    inputs.values().forEach(this::allocate);
    outputs.forEach(output -> allocate(output.place));
    oneDnn.boundThreads();
    tell(0, finished);
    for (int i = 0; i < kernels.size(); i++) {
      kernels.get(i).run();
      tell(i + 1, finished);
    }
  }

  private void tell(int ran, IntConsumer listener) {
    for (int output : finished[ran]) {
      listener.accept(output);
    }
  }

  @Override
  public Tensor output(int index) {
    Output output = outputs.get(index);
    allocate(output.place);
    return new Tensor(output.place.segment(), output.type.shape(), output.type.dtype());
  }

  @Override
  public boolean bindOutput(int index, MemorySegment segment) {
    if (outputs.get(index).own) {
      outputs.get(index).place.bind(segment);
    }
    return outputs.get(index).own;
  }

  @Override
  public void close() {
    kernels.forEach(Kernel::close);
  }
}
