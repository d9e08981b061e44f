package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.GpuTraits;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.PlacementShape;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.util.Optional;

/**
 * How fast jobs train, as far as anybody knows.
 *
 * <p>On a GPU type that a job has not run on, its goodput is that on a type it knows times the
 * ratio of the two types' speeds for one replica. A job that has run nowhere is taken to gain from
 * more replicas as {@code replicas^0.8}.
 */
final class Rates {
  private static final double UNKNOWN_SCALING = 0.8;

  private Rates() {}

  /** Effective examples a second on so many slots over so many nodes; 0 where it cannot run. */
  static double rate(JobState job, Pools pools, int pool, int slots, int nodes) {
    JobSpec spec = job.spec();
    String type = pools.gpuType(pool);
    int replicas = slots / spec.gpusPerReplica(type);
    PlacementShape shape = new PlacementShape(Math.min(nodes, replicas), replicas, type);
    Optional<GoodputModel> model = job.model();
    if (model.isEmpty()) {
      return unmeasured(spec, shape);
    }
    if (model.get().knows(type)) {
      return BatchChoice.goodput(spec, model.get(), shape);
    }
    for (int other = 0; other < pools.count(); other++) {
      String known = pools.gpuType(other);
      if (model.get().knows(known) && spec.runsOn(known) && pools.nodeSlots()[other] > 0) {
        int there = replicas * spec.gpusPerReplica(known);
        int over = Math.min(replicas, Math.ceilDiv(there, pools.nodeSlots()[other]));
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
