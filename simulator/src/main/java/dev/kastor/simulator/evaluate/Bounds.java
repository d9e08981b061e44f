package dev.kastor.simulator.evaluate;

import dev.kastor.simulator.bound.LowerBound;
import dev.kastor.simulator.run.Run;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.traces.TraceException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntConsumer;

/** Lower bounds of the workloads of an evaluation's sets. Owned by one thread. */
public final class Bounds {
  /** Listener that is told how many steps are done, and closed at the end. */
  public interface Listener extends IntConsumer, AutoCloseable {
    @Override
    void close();
  }

  private record Key(WorkloadSet set, String workload) {}

  private final Map<Key, LowerBound> known = new LinkedHashMap<>();

  Bounds() {}

  void add(
      WorkloadSet set,
      String workload,
      Simulate simulate,
      Run run,
      Duration slot,
      KnownResults keep,
      Function<String, ? extends Listener> listeners)
      throws TraceException {
    Optional<LowerBound> found = keep.findBound(run, slot);
    LowerBound bound;
    if (found.isPresent()) {
      bound = found.get();
    } else {
      try (Listener listener = listeners.apply(workload)) {
        bound = simulate.bound(run, slot, listener);
      }
      keep.noteBound(run, slot, bound);
    }
    known.put(new Key(set, workload), bound);
  }

  boolean isEmpty() {
    return known.isEmpty();
  }

  Optional<LowerBound> of(WorkloadSet set, String workload) {
    return Optional.ofNullable(known.get(new Key(set, workload)));
  }

  /** Mean over the workloads of a set; not a number where it has none. */
  double meanSeconds(WorkloadSet set) {
    return set.workloads().stream()
        .flatMap(workload -> of(set, workload).stream())
        .mapToDouble(LowerBound::meanSeconds)
        .average()
        .orElse(Double.NaN);
  }
}
