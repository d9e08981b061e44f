package dev.kastor.engine.exec;

import dev.kastor.engine.backend.Backend;
import dev.kastor.engine.backend.Executable;
import dev.kastor.engine.backend.Residence;
import dev.kastor.engine.graph.Graph;
import dev.kastor.engine.graph.Node;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;

/**
 * Pure nodes that are compiled and run as one.
 *
 * <p>Thread-safe: as many copies are compiled as run at once, and kept.
 */
final class Region implements AutoCloseable {
  private final Backend backend;
  private final Memory memory;
  private final List<Node> operands;
  private final Graph graph;
  private final Deque<Executable> idle = new ConcurrentLinkedDeque<>();

  Region(Backend backend, Memory memory, List<Node> operands, Graph graph) {
    this.backend = backend;
    this.memory = memory;
    this.operands = List.copyOf(operands);
    this.graph = graph;
  }

  List<Value> run(@Nullable Value[] slots, int first) {
    Executable compiled = idle.poll();
    if (compiled == null) {
      compiled = memory.compile(backend, graph, Residence.NONE, this);
    }
    List<Value> results = new ArrayList<>();
    try {
      for (int i = 0; i < operands.size(); i++) {
        Value value = slots[first + i];
        if (value == null) {
          throw new IllegalStateException("An operand of " + this + " is missing.");
        }
        compiled.bind(operands.get(i), value.tensor().segment());
      }
      boolean[] bound = new boolean[graph.outputs().size()];
      for (int i = 0; i < bound.length; i++) {
        Value result = memory.allocate(graph.outputs().get(i).type(), this);
        results.add(result);
        bound[i] = compiled.bindOutput(i, result.tensor().segment());
      }
      compiled.run();
      for (int i = 0; i < bound.length; i++) {
        if (!bound[i]) {
          copy(compiled.output(i), results.get(i).tensor());
        }
      }
      return results;
    } catch (RuntimeException | Error e) {
      results.forEach(Value::release);
      throw e;
    } finally {
      idle.push(compiled);
    }
  }

  private static void copy(Tensor from, Tensor to) {
    long bytes = (long) from.shape().elements() * from.dtype().bytes();
    MemorySegment.copy(from.segment(), 0, to.segment(), 0, bytes);
  }

  @Override
  public void close() {
    for (Executable compiled = idle.poll(); compiled != null; compiled = idle.poll()) {
      compiled.close();
    }
  }

  @Override
  public String toString() {
    return name(graph);
  }

  /** The last node and how many come before it. */
  static String name(Graph graph) {
    long others = graph.topological().stream().filter(node -> !node.isLeaf()).count() - 1;
    Node last = graph.outputs().getLast();
    return others > 0 ? "%s with %d nodes before it".formatted(last, others) : last.toString();
  }
}
