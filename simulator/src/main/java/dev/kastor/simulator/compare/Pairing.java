package dev.kastor.simulator.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Which run of one file belongs to which of another: the one of the same workload, seed and mode;
 * where that names several, of the same cluster and load as well.
 */
final class Pairing {
  private Pairing() {}

  /** The run of B for each run of A, in A's order. */
  static SequencedMap<RunFile.Entry, RunFile.Entry> of(RunFile a, RunFile b)
      throws CompareException {
    boolean enough = unique(a, Pairing::key) && unique(b, Pairing::key);
    Function<RunFile.Entry, List<Object>> key = enough ? Pairing::key : Pairing::longKey;
    Map<List<Object>, RunFile.Entry> ofB = byKey(b, key);
    SequencedMap<RunFile.Entry, RunFile.Entry> pairs = new LinkedHashMap<>();
    for (RunFile.Entry run : byKey(a, key).values()) {
      RunFile.Entry partner = ofB.remove(key.apply(run));
      if (partner == null) {
        throw new CompareException(
            "%s has no run for %s of %s. Replay the same workloads, seeds and mode in both."
                .formatted(b.file(), name(run), a.file()));
      }
      sameJobs(a, run, b, partner);
      pairs.put(run, partner);
    }
    if (!ofB.isEmpty()) {
      throw new CompareException(
          "%s has no run for %s of %s. Replay the same workloads, seeds and mode in both."
              .formatted(a.file(), name(ofB.values().iterator().next()), b.file()));
    }
    return pairs;
  }

  private static List<Object> key(RunFile.Entry run) {
    return List.of(run.workload(), run.seed(), run.mode());
  }

  private static List<Object> longKey(RunFile.Entry run) {
    return List.of(run.workload(), run.seed(), run.mode(), run.cluster(), run.load());
  }

  private static boolean unique(RunFile file, Function<RunFile.Entry, List<Object>> key) {
    return file.runs().stream().map(key).distinct().count() == file.runs().size();
  }

  private static Map<List<Object>, RunFile.Entry> byKey(
      RunFile file, Function<RunFile.Entry, List<Object>> key) throws CompareException {
    Map<List<Object>, RunFile.Entry> entries = new LinkedHashMap<>();
    for (RunFile.Entry run : file.runs()) {
      if (entries.put(key.apply(run), run) != null) {
        throw new CompareException(
            "%s has two runs of policy %s for %s, so neither can be paired"
                .formatted(file.file(), run.policy(), name(run)));
      }
    }
    return entries;
  }

  private static void sameJobs(RunFile a, RunFile.Entry runA, RunFile b, RunFile.Entry runB)
      throws CompareException {
    lacksNone(a, runA, runB);
    lacksNone(b, runB, runA);
  }

  private static void lacksNone(RunFile file, RunFile.Entry run, RunFile.Entry other)
      throws CompareException {
    Set<String> lonely = new TreeSet<>(run.jct().keySet());
    lonely.removeAll(other.jct().keySet());
    if (!lonely.isEmpty()) {
      throw new CompareException(
          "%s: %s has %d jobs that the other file lacks, such as '%s'. The workload file must be the same for both."
              .formatted(file.file(), name(run), lonely.size(), lonely.iterator().next()));
    }
  }

  private static String name(RunFile.Entry run) {
    return "workload %s, seed %d, mode %s".formatted(run.workload(), run.seed(), run.mode());
  }
}
