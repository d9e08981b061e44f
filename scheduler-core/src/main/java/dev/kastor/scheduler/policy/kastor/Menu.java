package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.AllowedReplicas;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.GpuTraits;
import dev.kastor.scheduler.model.JobSpec;
import java.util.Arrays;

/**
 * The sizes that a job may have in a pool: powers of two of replicas within a node and whole nodes,
 * which pack without leaving holes; above sixteen nodes in steps of about a quarter. A rigid job
 * has one. Where slots share devices, no more replicas than there are devices, or the fewest.
 */
final class Menu {
  private static final int FINE_NODES = 16;

  private Menu() {}

  /** Slots of each size, rising. */
  static int[] slots(JobSpec spec, int mostReplicas, Pools pools, int pool) {
    String type = pools.gpuType(pool);
    int node = pools.nodeSlots()[pool];
    if (node == 0 || !spec.runsOn(type)) {
      return new int[0];
    }
    int each = spec.slotsPerReplica(type);
    int perNode = node / each;
    if (perNode == 0) {
      return new int[0];
    }
    GpuTraits traits = spec.byGpuType().get(type);
    long span = traits == null ? Integer.MAX_VALUE : (long) traits.maxNodes() * perNode;
    int room = (int) Math.min(span, pools.replicas(pool, each));
    int useful = (pools.slots()[pool] - pools.beyondDevices()[pool]) / each;
    Elasticity elasticity = spec.elasticity();
    int least = fewest(elasticity);
    if (elasticity.allowed() instanceof AllowedReplicas.Listed listed) {
      return listed.counts().stream()
          .filter(count -> elasticity.allows(count))
          .filter(count -> count <= mostReplicas && count <= room)
          .filter(count -> count <= useful || count == least)
          .mapToInt(count -> count * each)
          .sorted()
          .distinct()
          .toArray();
    }
    if (least == 0 || least > room) {
      return new int[0];
    }
    int[] sizes = new int[64];
    int count = 0;
    sizes[count++] = least * each;
    for (int replicas = 1;
        replicas <= Math.min(room, useful) && count < sizes.length;
        replicas = next(replicas, Math.min(perNode, useful))) {
      if (replicas > mostReplicas) {
        break;
      }
      if (replicas > least && elasticity.allows(replicas)) {
        sizes[count++] = replicas * each;
      }
    }
    return Arrays.copyOf(sizes, count);
  }

  /** The fewest replicas that it can run with; 0 if there is no such count. */
  static int fewest(Elasticity elasticity) {
    for (int replicas = elasticity.min(); replicas <= elasticity.max(); replicas++) {
      if (elasticity.allows(replicas)) {
        return replicas;
      }
    }
    return 0;
  }

  private static int next(int replicas, int perNode) {
    if (replicas < perNode) {
      return Math.min(2 * replicas, perNode);
    }
    int nodes = replicas / perNode;
    return (nodes + Math.max(1, nodes / FINE_NODES * 4)) * perNode;
  }
}
