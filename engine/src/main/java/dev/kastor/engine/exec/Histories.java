package dev.kastor.engine.exec;

import dev.kastor.engine.graph.Node;
import dev.kastor.engine.graph.Type;
import dev.kastor.engine.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What bodies kept for their gradients in one run; guarded by the run's lock.
 *
 * <p>Where there is a file for it, what was kept first goes there once half of the memory is in
 * use: gradients ask for it last (Yu et al., EuroSys 2018, section 5.3). The run stands still while
 * something is written or read.
 */
final class Histories {
  private static final long SMALLEST_SPILLED_BYTES = 1 << 12;

  private record Key(int history, Node inner, int iteration) {}

  /** One value, which may be kept of several nodes and iterations. */
  private static final class Kept {
    private final Type type;
    private @Nullable Value value;
    private Spill.@Nullable Extent extent;
    private int times = 1;

    Kept(Value value) {
      Tensor tensor = value.tensor();
      this.value = value;
      type = new Type(tensor.shape(), tensor.dtype());
    }
  }

  private final Memory memory;
  private final @Nullable Spill spill;
  private final Map<Key, Kept> all = new HashMap<>();

  /** Those that may go to the file, in the order in which they were kept. */
  private final SequencedMap<Value, Kept> inMemory = new LinkedHashMap<>();

  private int begun;

  /** None yet; without a file all stay in memory. */
  Histories(Memory memory, @Nullable Spill spill) {
    this.memory = memory;
    this.spill = spill;
  }

  int begin() {
    return begun++;
  }

  /** Takes over a held value. */
  void keep(int history, Node inner, int iteration, Value value) {
    Kept known = inMemory.get(value);
    Kept kept = known == null ? new Kept(value) : known;
    if (all.putIfAbsent(new Key(history, inner, iteration), kept) != null) {
      throw new IllegalStateException(inner + " was kept twice in iteration " + iteration + ".");
    }
    if (known != null) {
      // What an iteration computes, the next one begins with: it is held once for both.
      known.times++;
      value.release();
    } else if (spill != null && content(value).byteSize() >= SMALLEST_SPILLED_BYTES) {
      inMemory.put(value, kept);
      makeRoom(spill);
    }
  }

  private void makeRoom(Spill to) {
    Iterator<Map.Entry<Value, Kept>> oldestFirst = inMemory.entrySet().iterator();
    while (oldestFirst.hasNext() && memory.usedBytes() > memory.capBytes() / 2) {
      Map.Entry<Value, Kept> oldest = oldestFirst.next();
      Value value = oldest.getKey();
      if (value.sole()) {
        oldest.getValue().extent = to.write(content(value));
        oldest.getValue().value = null;
        oldestFirst.remove();
        value.release();
      }
    }
  }

  /** Hands over a held value. */
  Value recall(int history, Node inner, int iteration) {
    Key key = new Key(history, inner, iteration);
    Kept kept = all.get(key);
    if (kept == null) {
      throw new IllegalStateException(
          "Nothing is kept of %s in iteration %d.".formatted(inner, iteration));
    }
    Value value = kept.value == null ? read(kept, inner) : kept.value;
    all.remove(key);
    if (--kept.times > 0) {
      return value.retain();
    }
    inMemory.remove(value);
    return value;
  }

  private Value read(Kept kept, Node inner) {
    Value value = memory.allocate(kept.type, inner);
    // From here on it goes with the others if it cannot be read.
    kept.value = value;
    Objects.requireNonNull(spill).take(Objects.requireNonNull(kept.extent), content(value));
    return value;
  }

  private static MemorySegment content(Value value) {
    Tensor tensor = value.tensor();
    return tensor.segment().asSlice(0, (long) tensor.shape().elements() * tensor.dtype().bytes());
  }

  /** Forgets everything. */
  void clear() {
    for (Kept kept : new HashSet<>(all.values())) {
      if (kept.value != null) {
        kept.value.release();
      }
    }
    all.clear();
    inMemory.clear();
    if (spill != null) {
      spill.close();
    }
  }
}
