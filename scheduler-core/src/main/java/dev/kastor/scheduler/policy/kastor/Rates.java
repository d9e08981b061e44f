package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import java.util.Optional;

/**
 * How fast jobs train, as far as anybody knows.
 *
 * <p>On a GPU type that a job has not run on, its goodput is that on a type it knows times the
 * ratio of the two types' speeds for one replica. A job that has run nowhere is taken to gain from
 * more replicas as {@code replicas^0.8}.
 *
 * <p>On nodes that may be taken away it makes progress for only a part of the time. Each of {@code
 * n} nodes goes after an exponential time, {@code l} times in a second; then the job loses a pause
 * and what it has trained since its last checkpoint, together {@code c} seconds. Of a cycle of
 * {@code 1 / (n l) + c} seconds the first part remains: a share of {@code 1 / (1 + n l c)} (renewal
 * reward; the model behind Young's interval between checkpoints, CACM 1974).
 */
final class Rates {
  private static final double UNKNOWN_SCALING = 0.8;

  /** Seconds of training that an interruption undoes: half of ten minutes between checkpoints. */
  private static final double LOST_SECONDS = 300;

  private Rates() {}

  /**
   * Effective examples a second on so many slots over so many nodes, interruptions and slow nodes
   * taken off; 0 where it cannot run.
   */
  static double rate(JobState job, Pools pools, int pool, int slots, int nodes) {
    double rate =
        undisturbed(job, pools, pool, slots, nodes) * pools.favour()[pool] / pools.slowdown(pool);
    double often = nodes * pools.interruptions()[pool];
    return often > 0 ? rate / (1 + often * interruption(job)) : rate;
  }

  /** Seconds that an interruption costs a job. */
  static double interruption(JobState job) {
    return job.restartCost().toNanos() * 1e-9 + LOST_SECONDS;
  }

  private static double undisturbed(JobState job, Pools pools, int pool, int slots, int nodes) {
    JobSpec spec = job.spec();
    String type = pools.gpuType(pool);
    int replicas = slots / spec.slotsPerReplica(type);
    PlacementShape shape = new PlacementShape(nodes, replicas, type);
    Optional<GoodputModel> model = job.model();
    if (model.isEmpty()) {
      return unmeasured(spec, shape);
    }
    if (model.get().knows(type)) {
      return BatchChoice.goodput(spec, model.get(), shape);
    }
    for (int other = 0; other < pools.count(); other++) {
      String known = pools.gpuType(other);
      int perNode = pools.nodeSlots()[other] / spec.slotsPerReplica(known);
      if (model.get().knows(known) && spec.runsOn(known) && perNode > 0) {
        int over = Math.ceilDiv(replicas, perNode);
        double rate =
            BatchChoice.goodput(spec, model.get(), new PlacementShape(over, replicas, known));
        double here = speed(spec, type);
        double reference = speed(spec, known);
        return here > 0 && reference > 0 ? rate * here / reference : rate;
      }
    }
    return unmeasured(spec, shape);
  }

  private static double unmeasured(JobSpec spec, PlacementShape shape) {
    if (BatchChoice.choose(spec, Optional.empty(), shape).isEmpty()) {
      return 0;
    }
    double speed = speed(spec, shape.gpuType());
    return (speed > 0 ? speed : 1) * Math.pow(shape.replicas(), UNKNOWN_SCALING);
  }

  private static double speed(JobSpec spec, String type) {
    GpuTraits traits = spec.byGpuType().get(type);
    return traits == null ? 0 : traits.referenceSpeed();
  }
}
