package dev.kastor.engine.resource;

import dev.kastor.engine.exec.Memory;
import dev.kastor.engine.exec.Value;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The value of a variable in one session. Thread-safe. */
final class VariableState {
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private Value value;

  /** Takes over a held value. */
  VariableState(Value value) {
    this.value = value;
  }

  synchronized Value read() {
    return value.retain();
  }

  /** Takes over a held value; gives it, held once more. */
  synchronized Value assign(Value next) {
    Value before = value;
    value = next;
    before.release();
    return next.retain();
  }

  synchronized Value add(Value delta, Memory memory, Object who) {
    Tensor own = writable(memory, who);
    MemorySegment from = delta.tensor().segment();
    int count = own.shape().elements();
    for (long i = 0; i < count; i++) {
      float sum = own.segment().getAtIndex(FLOAT, i) + from.getAtIndex(FLOAT, i);
      own.segment().setAtIndex(FLOAT, i, sum);
    }
    return value.retain();
  }

  synchronized void addRows(Value rows, Value numbers, Memory memory, Object who) {
    Tensor own = writable(memory, who);
    int width = own.shape().extent(1);
    int count = numbers.tensor().shape().elements();
    for (int i = 0; i < count; i++) {
      int row = numbers.tensor().segment().getAtIndex(ValueLayout.JAVA_INT, i);
      if (row == Variable.NO_ROW) {
        continue;
      }
      if (row < 0 || row >= own.shape().extent(0)) {
        throw new IllegalArgumentException(
            "%s: there is no row %d in %s.".formatted(who, row, own.shape()));
      }
      for (int j = 0; j < width; j++) {
        long at = (long) row * width + j;
        float add = rows.tensor().segment().getAtIndex(FLOAT, (long) i * width + j);
        own.segment().setAtIndex(FLOAT, at, own.segment().getAtIndex(FLOAT, at) + add);
      }
    }
  }

  /** The tensor, which nobody else holds. */
  private Tensor writable(Memory memory, Object who) {
    if (!value.sole()) {
      Tensor shared = value.tensor();
      Value copy = memory.allocate(Type.f32(shared.shape()), who);
      MemorySegment.copy(
          shared.segment(), 0, copy.tensor().segment(), 0, 4L * shared.shape().elements());
      value.release();
      value = copy;
    }
    return value.tensor();
  }
}
