package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.BatchChoice;
import dev.kastor.scheduler.Elasticity;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.JobState;
import dev.kastor.scheduler.goodput.GoodputModel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The offers of each job, kept from round to round while nothing that they follow from changes.
 * Owned by a policy.
 */
final class OfferBook {
  private record Entry(
      JobSpec spec,
      Optional<GoodputModel> model,
      int reach,
      Offers offers,
      List<Pools.Kind> kinds) {}

  private final KastorOptions options;
  private Map<JobId, Entry> entries = new HashMap<>();
  private Pools pools = Pools.of(List.of());

  OfferBook(KastorOptions options) {
    this.options = options;
  }

  /** The offers of all jobs of a round, in their order. */
  Offers[] of(List<JobState> jobs, Pools now) {
    boolean sameCluster =
        pools.kinds().equals(now.kinds())
            && Arrays.equals(pools.slots(), now.slots())
            && Arrays.equals(pools.nodeSlots(), now.nodeSlots());
    Map<JobId, Entry> kept = HashMap.newHashMap(jobs.size());
    Offers[] offers = new Offers[jobs.size()];
    for (int j = 0; j < offers.length; j++) {
      JobState job = jobs.get(j);
      int reach = reach(job, now);
      Entry known = sameCluster ? entries.get(job.id()) : null;
      if (known == null
          || known.reach() != reach
          || !known.spec().equals(job.spec())
          || !known.model().equals(job.model())) {
        known = new Entry(job.spec(), job.model(), reach, offers(job, reach, now), now.kinds());
      }
      offers[j] = known.offers();
      kept.put(job.id(), known);
    }
    entries = kept;
    pools = now;
    return offers;
  }

  /** Most replicas for now: predictions far from what was measured are not to be trusted. */
  private int reach(JobState job, Pools now) {
    JobSpec spec = job.spec();
    Elasticity elasticity = spec.elasticity();
    int most = most(spec);
    int tried =
        job.maxProfiledReplicas() == 0
            ? options.firstReplicas()
            : (int) Math.min(most, options.growth() * job.maxProfiledReplicas());
    int held = job.allocation().replicas();
    if (held > 0) {
      Integer node = now.indexByName().get(job.allocation().node(0));
      held = node == null ? 0 : held / spec.gpusPerReplica(now.nodes().get(node).gpuType());
    }
    return Math.max(Menu.fewest(elasticity), Math.min(most, Math.max(tried, held)));
  }

  private static int most(JobSpec spec) {
    Elasticity elasticity = spec.elasticity();
    return elasticity instanceof Elasticity.Rigid
        ? elasticity.max()
        : Math.min(elasticity.max(), BatchChoice.maxReplicas(spec));
  }

  private static Offers offers(JobState job, int reach, Pools pools) {
    int[] pool = new int[0];
    int[] slots = new int[0];
    double[] rate = new double[0];
    double fullRate = 0;
    for (int p = 0; p < pools.count(); p++) {
      int each = job.spec().gpusPerReplica(pools.gpuType(p));
      for (int size : Menu.slots(job.spec(), most(job.spec()), pools, p)) {
        int nodes = Math.ceilDiv(size, pools.nodeSlots()[p]);
        boolean offered = size / each <= reach;
        // Sizes beyond reach only tell how long the job may have to live: whole nodes are enough.
        double speed =
            offered || size % pools.nodeSlots()[p] == 0
                ? Rates.rate(job, pools, p, size, nodes)
                : 0;
        fullRate = Math.max(fullRate, speed);
        if (offered && speed > 0) {
          int count = pool.length;
          pool = Arrays.copyOf(pool, count + 1);
          slots = Arrays.copyOf(slots, count + 1);
          rate = Arrays.copyOf(rate, count + 1);
          pool[count] = p;
          slots[count] = size;
          rate[count] = speed;
        }
      }
    }
    return new Offers(pool, slots, rate, fullRate);
  }
}
