package dev.kastor.traces.measured;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.TraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * The applications of Sia's artifact (SOSP 2023): one folder each with {@code placements-TYPE.csv}
 * and {@code scalability-TYPE.csv} for each GPU type, and {@code validation-B.csv} files.
 */
public final class SiaApplications {
  /** Seconds of a restart, what the policies are told of it, and true over calibrated speed. */
  private record Costs(double restartSeconds, double believedSeconds, double slowdown) {}

  // What the artifact's simulator adds to the measurements (its application constants).
  private static final Map<String, Costs> COSTS =
      Map.of(
          "cifar10", new Costs(50, 30, 1.8),
          "bert", new Costs(120, 120, 1.2),
          "deepspeech2", new Costs(25, 25, 1.2),
          "yolov3", new Costs(80, 45, 1.2),
          "imagenet", new Costs(250, 250, 1.2),
          "ncf", new Costs(15, 30, 1.5),
          "gpt_pmp", new Costs(30, 30, 1));
  private static final Costs OTHER_COSTS = new Costs(30, 30, 1.2);
  private static final Map<String, Integer> MOST_NODES =
      Map.of("aws", 16, "dgx-ext", 2, "dgx", 2, "rtx", 3, "quad", 1, "azure", 5);
  private static final int OTHER_MOST_NODES = 16;
  private static final Map<String, Integer> LARGEST_ATOMIC_BATCH = Map.of("deepspeech2/rtx", 57);
  private static final int MOST_REPLICAS = 64;
  private static final String PREFIX = "placements-";
  private static final String SUFFIX = ".csv";

  private SiaApplications() {}

  /** Most nodes that the artifact's simulator spreads a job over on this GPU type. */
  static int mostNodes(String gpuType) {
    return MOST_NODES.getOrDefault(gpuType, OTHER_MOST_NODES);
  }

  /**
   * Reads every application of a folder, by name. Tables of interpolated packed placements are
   * taken from {@code ../profiles_interpolated} where it is there.
   */
  public static SequencedMap<String, Application> read(Path folder) throws TraceException {
    Path interpolated = folder.resolveSibling("profiles_interpolated");
    SequencedMap<String, Application> applications = new LinkedHashMap<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.filter(Files::isDirectory).sorted().toList()) {
        String name = String.valueOf(entry.getFileName());
        applications.put(name, read(name, entry, interpolated));
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

  private static Application read(String name, Path folder, Path interpolated)
      throws TraceException {
    boolean pipeline = Pipelines.NAME.equals(name);
    EpochTable epochs = EpochTable.read(folder);
    SequencedMap<String, GpuTypeTimes> times = new LinkedHashMap<>();
    for (String type : gpuTypes(folder)) {
      Path table = interpolated.resolve(name + "-" + type + ".csv.gz");
      times.put(type, GpuTypeTimes.read(folder, type, table, mostNodes(type), !pipeline));
    }
    if (times.isEmpty()) {
      throw new TraceException("%s has no %sTYPE%s".formatted(folder, PREFIX, SUFFIX));
    }
    Costs costs = COSTS.getOrDefault(name, OTHER_COSTS);
    if (pipeline) {
      return Pipelines.application(times, epochs, costs.restartSeconds(), costs.slowdown());
    }
    SequencedMap<String, OnType> types = new LinkedHashMap<>();
    int most = MOST_REPLICAS;
    for (var entry : times.entrySet()) {
      GpuTraits traits = traits(name, entry.getKey(), entry.getValue(), epochs);
      types.put(entry.getKey(), new OnType(entry.getValue(), traits));
      BatchLimits limits = traits.batchLimits();
      most = Math.min(most, limits.maxGlobalBatch() / limits.minAtomicBatch());
    }
    return new Measured(name, types, most, epochs, costs);
  }

  private static List<String> gpuTypes(Path folder) throws TraceException {
    List<String> types = new ArrayList<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.sorted().toList()) {
        String file = String.valueOf(entry.getFileName());
        if (file.startsWith(PREFIX) && file.endsWith(SUFFIX)) {
          types.add(file.substring(PREFIX.length(), file.length() - SUFFIX.length()));
        }
      }
    } catch (IOException e) {
      throw new TraceException("%s cannot be listed: %s".formatted(folder, e.getMessage()), e);
    }
    return types;
  }

  private static GpuTraits traits(String name, String type, GpuTypeTimes times, EpochTable epochs) {
    BatchLimits limits =
        new BatchLimits(
            epochs.smallestBatch(),
            epochs.largestBatch(),
            times.smallestBatch(),
            LARGEST_ATOMIC_BATCH.getOrDefault(name + "/" + type, times.largestBatch()),
            true);
    return new GpuTraits(limits, 1, times.referenceSpeed(1), mostNodes(type));
  }

  private record OnType(GpuTypeTimes times, GpuTraits traits) {}

  private record Measured(
      String name,
      SequencedMap<String, OnType> types,
      int maxReplicas,
      EpochTable table,
      Costs costs)
      implements Application {
    @Override
    public List<String> gpuTypes() {
      return List.copyOf(types.keySet());
    }

    private OnType on(String gpuType) {
      OnType found = types.get(gpuType);
      if (found == null) {
        throw new IllegalArgumentException(
            "%s was never measured on GPU type '%s', only on %s"
                .formatted(name, gpuType, String.join(", ", types.keySet())));
      }
      return found;
    }

    @Override
    public GpuTraits traits(String gpuType) {
      return on(gpuType).traits();
    }

    @Override
    public BatchLimits batchLimits(String gpuType) {
      return traits(gpuType).batchLimits();
    }

    @Override
    public int maxAtomicBatch(String gpuType, int[] replicasByNode) {
      return on(gpuType).times().largestBatch(replicasByNode);
    }

    @Override
    public int maxAtomicBatch(String gpuType, int replicas) {
      return on(gpuType).times().largestBatch(replicas);
    }

    @Override
    public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
      return on(gpuType).times().at(replicasByNode, atomicBatchSize);
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
      int last = epochs() - 1;
      return finishedEpochs >= last
          ? 1
          : table.iterations(globalBatch, last) - table.iterations(globalBatch, finishedEpochs);
    }

    @Override
    public double restartSeconds() {
      return costs.restartSeconds();
    }

    @Override
    public double believedRestartSeconds() {
      return costs.believedSeconds();
    }

    @Override
    public double slowdown() {
      return costs.slowdown();
    }
  }
}
