package dev.kastor.traces.measured;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Step times of measured placements: a {@code placements.csv}. A placement and its rotations are
 * one, since replicas form a ring.
 */
final class PlacementTable {
  private static final List<String> COLUMNS =
      List.of("placement", "local_bsz", "step_time", "sync_time");
  private static final int BITS = 4;

  /** Measured times of one placement by atomic batch. */
  static final class Curve {
    private final int[] atomicBatches;
    private final double[] stepSeconds;
    private final double[] syncSeconds;

    private Curve(SortedMap<Integer, StepTime> times) {
      atomicBatches = times.keySet().stream().mapToInt(Integer::intValue).toArray();
      stepSeconds = times.values().stream().mapToDouble(StepTime::stepSeconds).toArray();
      syncSeconds = times.values().stream().mapToDouble(StepTime::syncSeconds).toArray();
    }

    int[] atomicBatches() {
      return atomicBatches.clone();
    }

    double[] stepSeconds() {
      return stepSeconds.clone();
    }

    int smallestBatch() {
      return atomicBatches[0];
    }

    int largestBatch() {
      return atomicBatches[atomicBatches.length - 1];
    }

    StepTime at(int atomicBatch) {
      double position = Interpolation.position(atomicBatches, atomicBatch);
      return Double.isNaN(position)
          ? StepTime.UNKNOWN
          : new StepTime(
              Interpolation.at(stepSeconds, position), Interpolation.at(syncSeconds, position));
    }
  }

  private final SequencedMap<String, Curve> curves;
  private final Map<Long, Curve> byKey = new LinkedHashMap<>();

  private PlacementTable(SequencedMap<String, Curve> curves) {
    this.curves = curves;
    curves.forEach((placement, curve) -> byKey.put(key(digits(placement)), curve));
  }

  static PlacementTable read(Path file) throws TraceException {
    return read(file, true);
  }

  /**
   * Reads a table.
   *
   * @param syncWithinStep whether step times hold the synchronisation: those of pipelines are of
   *     one micro-batch and do not
   */
  static PlacementTable read(Path file, boolean syncWithinStep) throws TraceException {
    SequencedMap<String, TreeMap<Integer, StepTime>> measured = new LinkedHashMap<>();
    for (CsvRow row : CsvRow.readAtLeast(file, COLUMNS)) {
      String placement = row.text("placement");
      if (!placement.matches("[1-9]{1,16}")) {
        throw row.problem(
            "placement", "'%s' must be digits 1 to 9, one for each node".formatted(placement));
      }
      if (!Arrays.equals(canonical(digits(placement)), digits(placement))) {
        throw row.problem(
            "placement", "'%s' is not the smallest of its rotations".formatted(placement));
      }
      StepTime time = new StepTime(row.atLeast("step_time", 0), row.atLeast("sync_time", 0));
      if (syncWithinStep && !(time.passSeconds() > 0)) {
        throw row.problem("sync_time", "it must be below step_time");
      }
      if (measured
              .computeIfAbsent(placement, p -> new TreeMap<>())
              .put(row.positive("local_bsz"), time)
          != null) {
        throw row.problem("local_bsz", "placement %s has it twice".formatted(placement));
      }
    }
    if (measured.isEmpty()) {
      throw new TraceException("%s has no measurements".formatted(file));
    }
    SequencedMap<String, Curve> curves = new LinkedHashMap<>();
    measured.forEach((placement, times) -> curves.put(placement, new Curve(times)));
    return new PlacementTable(curves);
  }

  /** What was measured of a placement or one of its rotations; null if nothing was. */
  @Nullable Curve curve(int[] replicasByNode) {
    if (replicasByNode.length > Long.SIZE / BITS) {
      return null;
    }
    for (int replicas : replicasByNode) {
      if (replicas >= 1 << BITS) {
        return null;
      }
    }
    return byKey.get(key(canonical(replicasByNode)));
  }

  SequencedMap<String, Curve> curves() {
    return curves;
  }

  int smallestBatch() {
    return curves.values().stream().mapToInt(Curve::smallestBatch).min().orElseThrow();
  }

  int largestBatch() {
    return curves.values().stream().mapToInt(Curve::largestBatch).max().orElseThrow();
  }

  static int[] digits(String placement) {
    return placement.chars().map(c -> c - '0').toArray();
  }

  private static long key(int[] replicasByNode) {
    long key = 0;
    for (int replicas : replicasByNode) {
      key = key << BITS | replicas;
    }
    return key;
  }

  /** The lexicographically smallest rotation. */
  static int[] canonical(int[] replicasByNode) {
    int n = replicasByNode.length;
    int best = 0;
    for (int start = 1; start < n; start++) {
      for (int i = 0; i < n; i++) {
        int difference = replicasByNode[(start + i) % n] - replicasByNode[(best + i) % n];
        if (difference != 0) {
          best = difference < 0 ? start : best;
          break;
        }
      }
    }
    int[] rotated = new int[n];
    for (int i = 0; i < n; i++) {
      rotated[i] = replicasByNode[(best + i) % n];
    }
    return rotated;
  }
}
