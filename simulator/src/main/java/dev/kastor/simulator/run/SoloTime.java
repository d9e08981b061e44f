package dev.kastor.simulator.run;

import dev.kastor.scheduler.goodput.BatchLimits;
import dev.kastor.scheduler.policy.support.GpuTypes;
import dev.kastor.simulator.replay.ClusterShape;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import dev.kastor.traces.Workload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * How long jobs of one application would take alone on a share of a cluster: one start, then, epoch
 * by epoch, the number of GPUs and the batch of most true goodput.
 *
 * <p>A job uses GPUs of one type, packed onto as few nodes as possible, and the type that is best
 * for it. Sizes tried are the powers of two of replicas within the share and all of it; a share of
 * less than one replica is a replica for that part of the time, and so it is for a rigid job of
 * more replicas than the share can hold.
 */
final class SoloTime {
  /** Ratio of one atomic batch that is tried to the next. */
  private static final double GRID = 1.1;

  private static final int[] ACCUMULATION = {0, 1, 2, 3, 5, 7, 11, 15};

  private final ClusterShape cluster;
  private final Application application;
  private final Map<Key, Double> known = new HashMap<>();

  private record Key(ClusterShape.Group group, int perNode, int fewest, int most, int fixedBatch) {}

  SoloTime(ClusterShape cluster, Application application) {
    this.cluster = cluster.alike();
    this.application = application;
  }

  /** Seconds on {@code share} of every node; infinite if it could not run there. */
  double seconds(Workload.Job job, double share) {
    double best = Double.POSITIVE_INFINITY;
    boolean rigid = job.category() == Workload.Category.RIGID;
    int fixedBatch =
        job.category() == Workload.Category.ADAPTIVE
            ? application.fixedGlobalBatch().orElse(0)
            : job.globalBatch();
    for (ClusterShape.Group group : cluster.groups()) {
      if (!application.gpuTypes().contains("")
          && !application.gpuTypes().contains(group.gpuType())) {
        continue;
      }
      int perNode = group.gpusPerNode() / job.slotsPerReplica(application, group.gpuType());
      if (perNode == 0) {
        continue;
      }
      double room = share * group.nodes() * perNode;
      int fewest = rigid ? job.requestedReplicas() : job.minReplicas();
      int most =
          rigid
              ? fewest
              : Math.max(
                  fewest,
                  Math.min((int) room, Math.min(job.maxReplicas(), application.maxReplicas())));
      double whole =
          known.computeIfAbsent(new Key(group, perNode, fewest, most, fixedBatch), this::training);
      best = Math.min(best, application.restartSeconds() + whole / Math.min(1, room / fewest));
    }
    return best;
  }

  private double training(Key key) {
    NavigableMap<Integer, Double> stepByBatch = new TreeMap<>();
    for (int replicas : sizes(key.fewest(), key.most())) {
      steps(key, replicas, stepByBatch);
    }
    keepUseful(stepByBatch);
    double seconds = 0;
    for (int epoch = 0; epoch < application.epochs(); epoch++) {
      double goodput = 0;
      for (Map.Entry<Integer, Double> at : stepByBatch.entrySet()) {
        int batch = at.getKey();
        goodput = Math.max(goodput, application.gradient(batch, epoch).gain(batch) / at.getValue());
      }
      double steps = application.progressAt(epoch + 1) - application.progressAt(epoch);
      seconds += steps / goodput;
    }
    return seconds * application.slowdown();
  }

  private static List<Integer> sizes(int fewest, int most) {
    List<Integer> sizes = new ArrayList<>(List.of(fewest));
    for (int size = Integer.highestOneBit(fewest) * 2; size < most; size *= 2) {
      sizes.add(size);
    }
    if (most > fewest) {
      sizes.add(most);
    }
    return sizes;
  }

  private void steps(Key key, int replicas, NavigableMap<Integer, Double> stepByBatch) {
    ClusterShape.Group group = key.group();
    int[] packed = GpuTypes.packed(replicas, key.perNode());
    BatchLimits limits = application.batchLimits(group.gpuType());
    for (int accumulation : ACCUMULATION) {
      int examples = replicas * (accumulation + 1);
      if (key.fixedBatch() > 0) {
        int atomic = Math.max(limits.minAtomicBatch(), Math.ceilDiv(key.fixedBatch(), examples));
        if (atomic <= limits.maxAtomicBatch()) {
          add(stepByBatch, key, packed, atomic, accumulation, key.fixedBatch());
        }
        continue;
      }
      int largest = Math.min(limits.maxAtomicBatch(), limits.maxGlobalBatch() / examples);
      int smallest =
          Math.max(limits.minAtomicBatch(), Math.ceilDiv(limits.initialGlobalBatch(), examples));
      for (int atomic = smallest; atomic <= largest; ) {
        add(stepByBatch, key, packed, atomic, accumulation, atomic * examples);
        int next = Math.max(atomic + 1, (int) (atomic * GRID));
        atomic = atomic < largest ? Math.min(next, largest) : next;
      }
    }
  }

  private void add(
      NavigableMap<Integer, Double> stepByBatch,
      Key key,
      int[] packed,
      int atomic,
      int accumulation,
      int batch) {
    StepTime time = application.stepTime(key.group().gpuType(), packed, atomic);
    if (time.isKnown()) {
      stepByBatch.merge(batch, time.stepSeconds(accumulation), Math::min);
    }
  }

  /** Drops batches that take longer than a larger one: the larger one gains at least as much. */
  private static void keepUseful(NavigableMap<Integer, Double> stepByBatch) {
    double least = Double.POSITIVE_INFINITY;
    for (var entries = stepByBatch.descendingMap().entrySet().iterator(); entries.hasNext(); ) {
      double seconds = entries.next().getValue();
      if (seconds >= least) {
        entries.remove();
      }
      least = Math.min(least, seconds);
    }
  }
}
