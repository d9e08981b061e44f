package dev.kastor.engine.parameters;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The gradients that were added for one step so far, in one session. Thread-safe. */
final class AccumulatorState {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private final List<Value> sums = new ArrayList<>();
  private int added;

  /** The step that takes gradients. */
  private int open;

  /** The newest step whose variables may be read: the open one, unless the last is being used. */
  private int begun;

  synchronized int begunAfter(int last) throws InterruptedException {
    while (begun <= last) {
      wait();
    }
    return begun;
  }

  synchronized boolean add(int step, List<Value> gradients, Memory memory, Object who) {
    if (step != open) {
      return false;
    }
    if (sums.isEmpty()) {
      List<Value> copies = new ArrayList<>();
      try {
        for (Value gradient : gradients) {
          copies.add(copy(gradient, memory, who));
        }
      } catch (RuntimeException e) {
        copies.forEach(Value::release);
        throw e;
      }
      sums.addAll(copies);
    } else {
      for (int i = 0; i < sums.size(); i++) {
        add(sums.get(i).tensor().segment(), gradients.get(i));
      }
    }
    added++;
    notifyAll();
    return true;
  }

  synchronized List<Value> take(int needed) throws InterruptedException {
    while (added < needed) {
      wait();
    }
    for (Value sum : sums) {
      MemorySegment segment = sum.tensor().segment();
      for (long i = 0; i < sum.tensor().shape().elements(); i++) {
        segment.setAtIndex(FLOAT, i, segment.getAtIndex(FLOAT, i) / added);
      }
    }
    List<Value> means = List.copyOf(sums);
    sums.clear();
    added = 0;
    open++;
    return means;
  }

  synchronized void next() {
    begun = open;
    notifyAll();
  }

  private static Value copy(Value gradient, Memory memory, Object who) {
    Value copy = memory.allocate(Type.f32(gradient.tensor().shape()), who);
    long bytes = 4L * gradient.tensor().shape().elements();
    MemorySegment.copy(gradient.tensor().segment(), 0, copy.tensor().segment(), 0, bytes);
    return copy;
  }

  private static void add(MemorySegment sum, Value gradient) {
    MemorySegment more = gradient.tensor().segment();
    for (long i = 0; i < gradient.tensor().shape().elements(); i++) {
      sum.setAtIndex(FLOAT, i, sum.getAtIndex(FLOAT, i) + more.getAtIndex(FLOAT, i));
    }
  }
}
