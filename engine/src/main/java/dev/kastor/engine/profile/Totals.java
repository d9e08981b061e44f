package dev.kastor.engine.profile;

import dev.kastor.engine.backend.KernelObserver.Kernel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All runs of kernels that compute the same on the same types.
 *
 * @param op what they compute
 * @param result the type of the result
 * @param operands the types of what is read
 * @param runs how many
 * @param nanos all together
 * @param bytes read and written, all together
 */
public record Totals(
    String op, String result, List<String> operands, long runs, long nanos, long bytes) {
  public Totals {
    operands = List.copyOf(operands);
  }

  private record Key(String op, String result, List<String> operands) {}

  /** What a profiler took down, the longest first. */
  public static List<Totals> of(Profiler profiler) {
    Map<Key, Totals> all = new LinkedHashMap<>();
    for (Profiler.Run run : profiler.runs()) {
      Kernel kernel = run.kernel();
      all.merge(
          new Key(kernel.op(), kernel.result(), kernel.operands()),
          new Totals(
              kernel.op(),
              kernel.result(),
              kernel.operands(),
              1,
              run.end() - run.start(),
              kernel.bytes()),
          Totals::plus);
    }
    List<Totals> sorted = new ArrayList<>(all.values());
    sorted.sort(Comparator.comparingLong((Totals each) -> -each.nanos));
    return sorted;
  }

  /** Nanoseconds of all spans of each name, in the order in which they first came. */
  public static Map<String, Long> spans(Profiler profiler) {
    Map<String, Long> nanos = new LinkedHashMap<>();
    for (Profiler.Span span : profiler.spans()) {
      nanos.merge(span.name(), span.end() - span.start(), Long::sum);
    }
    return nanos;
  }

  /** The most memory that held values while a kernel ran, in bytes; 0 if none ran. */
  public static long mostAlive(Profiler profiler) {
    return profiler.runs().stream().mapToLong(run -> run.kernel().aliveBytes()).max().orElse(0);
  }

  private Totals plus(Totals other) {
    return new Totals(
        op, result, operands, runs + other.runs, nanos + other.nanos, bytes + other.bytes);
  }
}
