package dev.kastor.traces.measured;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * The applications of Pollux's artifact (OSDI 2021): one folder each with {@code placements.csv}
 * (up to four nodes), {@code mesh-points.csv} and {@code mesh-tetrahedra.csv} (beyond), and {@code
 * validation-B.csv} files.
 */
public final class PolluxApplications {
  /** The artifact's simulator caps what yolov3 may use below what was measured. */
  private static final Map<String, Integer> LARGEST_ATOMIC_BATCH = Map.of("yolov3", 8);

  /** The artifact's simulator never gives ncf more than one GPU, and then its largest batch. */
  private static final Map<String, Integer> MOST_REPLICAS = Map.of("ncf", 1);

  private static final int GPUS_MEASURED = 64;
  private static final double RESTART_SECONDS = 30;

  private PolluxApplications() {}

  /** Reads every application of a folder, by name. */
  public static SequencedMap<String, Application> read(Path folder) throws TraceException {
    SequencedMap<String, Application> applications = new LinkedHashMap<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.filter(Files::isDirectory).sorted().toList()) {
        String name = String.valueOf(entry.getFileName());
        applications.put(name, read(name, entry));
      }
    } catch (IOException e) {
      throw new TraceException("%s cannot be listed: %s".formatted(folder, e.getMessage()), e);
    }
    if (applications.isEmpty()) {
      throw new TraceException(
          "%s has no application: it must hold one folder for each".formatted(folder));
    }
    return applications;
  }

  private static Application read(String name, Path folder) throws TraceException {
    PlacementTable placements = PlacementTable.read(folder.resolve("placements.csv"));
    StepMesh mesh =
        StepMesh.read(folder.resolve("mesh-points.csv"), folder.resolve("mesh-tetrahedra.csv"));
    EpochTable epochs = EpochTable.read(folder);
    int largestAtomic = LARGEST_ATOMIC_BATCH.getOrDefault(name, placements.largestBatch());
    BatchLimits limits =
        new BatchLimits(
            epochs.smallestBatch(),
            epochs.largestBatch(),
            placements.smallestBatch(),
            largestAtomic,
            true);
    int most =
        MOST_REPLICAS.getOrDefault(
            name, Math.min(GPUS_MEASURED, limits.maxGlobalBatch() / limits.minAtomicBatch()));
    return new Measured(name, limits, most, placements, mesh, epochs);
  }

  private record Measured(
      String name,
      BatchLimits limits,
      int maxReplicas,
      PlacementTable placements,
      StepMesh mesh,
      EpochTable table)
      implements Application {
    @Override
    public List<String> gpuTypes() {
      return List.of("");
    }

    @Override
    public BatchLimits batchLimits(String gpuType) {
      return limits;
    }

    @Override
    public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
      PlacementTable.Curve curve = placements.curve(replicasByNode);
      if (curve != null) {
        return curve.at(atomicBatchSize);
      }
      int replicas = 0;
      for (int here : replicasByNode) {
        replicas += here;
      }
      return mesh.at(replicasByNode.length, replicas, atomicBatchSize);
    }

    @Override
    public int epochs() {
      return table.epochs();
    }

    @Override
    public double progressAt(int epoch) {
      return table.progressAt(epoch);
    }

    @Override
    public GradientStats gradient(int globalBatch, int finishedEpochs) {
      return table.gradient(globalBatch, finishedEpochs);
    }

    @Override
    public double remainingSteps(int globalBatch, int finishedEpochs) {
      // The artifact counts to the end of the last epoch but one, and then calls one step enough.
      int last = epochs() - 1;
      return finishedEpochs >= last
          ? 1
          : table.iterations(globalBatch, last) - table.iterations(globalBatch, finishedEpochs);
    }

    @Override
    public OptionalInt fixedGlobalBatch() {
      return maxReplicas == 1 ? OptionalInt.of(limits.maxGlobalBatch()) : OptionalInt.empty();
    }

    @Override
    public double restartSeconds() {
      return RESTART_SECONDS;
    }
  }
}
