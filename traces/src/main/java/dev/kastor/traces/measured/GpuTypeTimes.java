package dev.kastor.traces.measured;

import dev.kastor.traces.CsvRow;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Step times of one application on one GPU type, as Sia's artifact (SOSP 2023) measured them: by
 * placement up to a few nodes, and by (nodes, replicas) for larger jobs.
 *
 * <p>Where neither table has a placement, {@code profiles_interpolated} does for packed ones, and
 * {@link ScatteredTimes} for the others. Used by one thread.
 */
final class GpuTypeTimes {
  private record Size(int nodes, int replicas) {}

  private static final List<String> COLUMNS =
      List.of("num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time");

  private final PlacementTable placements;
  private final Map<Size, NavigableMap<Integer, StepTime>> larger;
  private final Map<Size, NavigableMap<Integer, StepTime>> tabulated;
  private final ScatteredTimes scattered;
  private final int mostNodes;
  private final Map<Integer, Integer> largestBatches = new HashMap<>();

  private GpuTypeTimes(
      PlacementTable placements,
      Map<Size, NavigableMap<Integer, StepTime>> larger,
      Map<Size, NavigableMap<Integer, StepTime>> tabulated,
      int mostNodes) {
    this.placements = placements;
    this.larger = larger;
    this.tabulated = tabulated;
    this.mostNodes = mostNodes;
    scattered = new ScatteredTimes();
    placements
        .curves()
        .forEach((placement, curve) -> {
          int[] digits = PlacementTable.digits(placement);
          for (int i = 0; i < curve.atomicBatches().length; i++) {
            int batch = curve.atomicBatches()[i];
            scattered.add(digits.length, sum(digits), batch, curve.at(batch));
          }
          largestBatches.merge(sum(digits), curve.largestBatch(), Math::max);
        });
    larger.forEach((size, curve) ->
        curve.forEach((batch, time) ->
            scattered.addUnlessMeasured(size.nodes(), size.replicas(), batch, time)));
  }

  /**
   * Reads the tables of one GPU type.
   *
   * @param folder the application's
   * @param interpolated its table of packed placements; need not exist
   * @param mostNodes larger allocations count as this many nodes
   */
  static GpuTypeTimes read(
      Path folder, String gpuType, Path interpolated, int mostNodes, boolean syncWithinStep)
      throws TraceException {
    PlacementTable placements =
        PlacementTable.read(folder.resolve("placements-" + gpuType + ".csv"), syncWithinStep);
    Path larger = folder.resolve("scalability-" + gpuType + ".csv");
    return new GpuTypeTimes(
        placements,
        Files.exists(larger) ? sizes(larger) : Map.of(),
        Files.exists(interpolated) ? sizes(interpolated) : Map.of(),
        mostNodes);
  }

  private static Map<Size, NavigableMap<Integer, StepTime>> sizes(Path file) throws TraceException {
    Map<Size, NavigableMap<Integer, StepTime>> sizes = new HashMap<>();
    for (CsvRow row : CsvRow.readAtLeast(file, COLUMNS)) {
      Size size = new Size(row.positive("num_nodes"), row.positive("num_replicas"));
      sizes
          .computeIfAbsent(size, s -> new TreeMap<>())
          .put(batch(row), new StepTime(row.atLeast("step_time", 0), row.atLeast("sync_time", 0)));
    }
    return sizes;
  }

  /** Some of the published tables write whole numbers with a fraction of zero. */
  private static int batch(CsvRow row) throws TraceException {
    double batch = row.atLeast("local_bsz", 1);
    if (batch != Math.rint(batch)) {
      throw row.problem("local_bsz", "%s is not a whole number".formatted(batch));
    }
    return (int) batch;
  }

  StepTime at(int[] slotsByNode, int atomicBatch) {
    PlacementTable.Curve curve = placements.curve(slotsByNode);
    if (curve != null) {
      return curve.at(atomicBatch);
    }
    int nodes = Math.min(slotsByNode.length, mostNodes);
    int slots = sum(slotsByNode);
    NavigableMap<Integer, StepTime> packed = tabulated.get(new Size(nodes, slots));
    StepTime time = packed == null ? null : packed.get(atomicBatch);
    return time != null ? time : scattered.at(nodes, slots, atomicBatch);
  }

  int smallestBatch() {
    return placements.smallestBatch();
  }

  int largestBatch() {
    return placements.largestBatch();
  }

  /** Largest batch of a placement; of one not measured, what any larger allocation ran with. */
  int largestBatch(int[] slotsByNode) {
    PlacementTable.Curve curve = placements.curve(slotsByNode);
    if (curve != null) {
      return curve.largestBatch();
    }
    int slots = sum(slotsByNode);
    int largest = 0;
    for (var entry : larger.entrySet()) {
      if (entry.getKey().nodes() >= slotsByNode.length && entry.getKey().replicas() >= slots) {
        largest = Math.max(largest, entry.getValue().lastKey());
      }
    }
    return largest > 0 ? largest : placements.largestBatch();
  }

  /** Largest batch of all measured placements of so many GPUs; the type's if there is none. */
  int largestBatch(int slots) {
    return largestBatches.getOrDefault(slots, Integer.MAX_VALUE);
  }

  /** Examples per second of {@code slots} GPUs of one node at the largest batch. */
  double referenceSpeed(int slots) {
    PlacementTable.Curve curve = placements.curve(new int[] {slots});
    if (curve == null) {
      return 0;
    }
    double slowest = 0;
    for (double seconds : curve.stepSeconds()) {
      slowest = Math.max(slowest, seconds);
    }
    return curve.largestBatch() / slowest;
  }

  private static int sum(int[] slots) {
    int sum = 0;
    for (int here : slots) {
      sum += here;
    }
    return sum;
  }
}
