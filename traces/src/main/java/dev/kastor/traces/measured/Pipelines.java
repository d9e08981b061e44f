package dev.kastor.traces.measured;

import dev.kastor.protocol.GradientStats;
import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A model too large for one GPU, whose replicas are pipelines (Sia, SOSP 2023, section 5.3: a GPT
 * of 2.8 billion parameters, two A100s or eight 2080Tis for each replica).
 *
 * <p>Each step, a replica sends 48 micro-batches of one example through its stages: {@code 48 +
 * stages - 1} times the measured time of a micro-batch, forward, and twice that backward; then the
 * replicas synchronise once. The artifact's simulator leaves the synchronisation out of the truth
 * and in the model; we have it in both. The batch of a replica does not change.
 */
final class Pipelines {
  static final String NAME = "gpt_pmp";

  private static final int MICRO_BATCHES = 48;
  private static final int BACKWARD_AND_FORWARD = 3;
  private static final Map<String, Integer> STAGES = Map.of("dgx-ext", 2, "rtx", 8);
  private static final int OTHER_STAGES = 8;

  private Pipelines() {}

  static Application application(
      SequencedMap<String, GpuTypeTimes> times,
      EpochTable epochs,
      double restartSeconds,
      double slowdown) {
    // The batch of one replica is the least there is; accumulating it over passes changes nothing.
    int least = Math.max(MICRO_BATCHES, epochs.smallestBatch());
    BatchLimits limits =
        new BatchLimits(least, epochs.largestBatch(), MICRO_BATCHES, MICRO_BATCHES, false);
    SequencedMap<String, GpuTraits> traits = new LinkedHashMap<>();
    times.forEach((type, own) -> {
      int stages = STAGES.getOrDefault(type, OTHER_STAGES);
      StepTime alone = step(own, new int[] {1}, stages);
      traits.put(
          type,
          new GpuTraits(
              limits,
              stages,
              MICRO_BATCHES / alone.stepSeconds(),
              SiaApplications.mostNodes(type)));
    });
    return new Pipelined(times, traits, limits, epochs, restartSeconds, slowdown);
  }

  private static StepTime step(GpuTypeTimes times, int[] replicasByNode, int stages) {
    int[] gpusByNode = new int[replicasByNode.length];
    Arrays.setAll(gpusByNode, n -> replicasByNode[n] * stages);
    StepTime pass = times.at(gpusByNode, 1);
    double compute = BACKWARD_AND_FORWARD * (MICRO_BATCHES + stages - 1) * pass.stepSeconds();
    return new StepTime(compute + pass.syncSeconds(), pass.syncSeconds());
  }

  private record Pipelined(
      SequencedMap<String, GpuTypeTimes> times,
      SequencedMap<String, GpuTraits> traits,
      BatchLimits limits,
      EpochTable table,
      double restartSeconds,
      double slowdown)
      implements Application {
    @Override
    public String name() {
      return NAME;
    }

    @Override
    public List<String> gpuTypes() {
      return List.copyOf(times.keySet());
    }

    @Override
    public GpuTraits traits(String gpuType) {
      GpuTraits found = traits.get(gpuType);
      if (found == null) {
        throw new IllegalArgumentException(
            "%s was never measured on GPU type '%s', only on %s"
                .formatted(NAME, gpuType, String.join(", ", times.keySet())));
      }
      return found;
    }

    @Override
    public BatchLimits batchLimits(String gpuType) {
      return limits;
    }

    @Override
    public int maxReplicas() {
      return limits.maxGlobalBatch() / MICRO_BATCHES;
    }

    @Override
    public StepTime stepTime(String gpuType, int[] replicasByNode, int atomicBatchSize) {
      GpuTypeTimes own = times.get(gpuType);
      return own == null || atomicBatchSize != MICRO_BATCHES
          ? StepTime.UNKNOWN
          : step(own, replicasByNode, traits(gpuType).slotsPerReplica());
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
      double left = progressAt(epochs()) - progressAt(finishedEpochs);
      return left / gradient(globalBatch, Math.min(finishedEpochs, epochs() - 1)).gain(globalBatch);
    }
  }
}
