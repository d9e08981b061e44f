package dev.kastor.scheduler.policy.kastor;

import dev.kastor.plugin.Options;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.BatchChoice;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
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
      int measured,
      Scaling.Traits traits,
      int reach,
      Scaling.Belief belief,
      double interruption,
      Optional<Held> besides,
      Offers offers) {
    /** Whether the job's traits are what they were. */
    boolean tells(JobState job) {
      return measured == job.maxProfiledReplicas()
          && spec.equals(job.spec())
          && model.equals(job.model());
    }

    boolean standsFor(
        JobState job, int nowReach, Scaling scaling, double costs, Optional<Held> held) {
      boolean same =
          tells(job)
              && reach == nowReach
              && belief.equals(scaling.of(job))
              && interruption == costs;
      // What is held is offered, and nothing that once was held.
      boolean offered = held.isEmpty() || offers.find(held.get().pool(), held.get().slots()) >= 0;
      return same && (besides.isEmpty() ? offered : besides.equals(held));
    }
  }

  /** What a job holds and may hold, were it not on the menu. */
  private record Held(int pool, int slots) {}

  private final int firstReplicas;
  private final double growth;
  private Map<JobId, Entry> entries = new HashMap<>();
  private Pools pools;

  OfferBook(Options options) {
    firstReplicas = options.get(KastorPlugin.FIRST_REPLICAS);
    growth = options.get(KastorPlugin.GROWTH);
    pools = Pools.of(List.of(), options);
  }

  /** The offers of all jobs of a round, in their order. */
  Offers[] of(List<JobState> jobs, Pools now) {
    boolean sameCluster =
        pools.kinds().equals(now.kinds())
            && Arrays.equals(pools.beyondDevices(), now.beyondDevices())
            && Arrays.deepEquals(pools.nodesBySlots(), now.nodesBySlots());
    boolean interrupted = now.interrupted();
    if (!sameCluster) {
      entries = Map.of();
    }
    Scaling.Traits[] traits = new Scaling.Traits[jobs.size()];
    for (int j = 0; j < traits.length; j++) {
      JobState job = jobs.get(j);
      Entry before = entries.get(job.id());
      traits[j] =
          before != null && before.tells(job) ? before.traits() : Scaling.Traits.of(job, now);
    }
    Scaling scaling = Scaling.of(jobs, traits, now);
    Map<JobId, Entry> kept = HashMap.newHashMap(jobs.size());
    Offers[] offers = new Offers[jobs.size()];
    for (int j = 0; j < offers.length; j++) {
      JobState job = jobs.get(j);
      int reach = reach(job, now, scaling);
      double interruption = interrupted ? Rates.interruption(job) : 0;
      Optional<Held> held = held(job, now);
      Entry known = entries.get(job.id());
      if (known == null || !known.standsFor(job, reach, scaling, interruption, held)) {
        Optional<Held> besides = held.filter(size -> !onMenu(job, size, now));
        Scaling.Belief belief = scaling.of(job);
        known =
            new Entry(
                job.spec(),
                job.model(),
                job.maxProfiledReplicas(),
                traits[j],
                reach,
                belief,
                interruption,
                besides,
                offers(job, reach, belief, besides, now));
      }
      offers[j] = known.offers();
      kept.put(job.id(), known);
    }
    entries = kept;
    pools = now;
    return offers;
  }

  /**
   * Most replicas for now: predictions far from what was measured are not to be trusted. A job that
   * restarts for each size begins with what it can have: it would pay for every step on the way.
   */
  private int reach(JobState job, Pools now, Scaling scaling) {
    JobSpec spec = job.spec();
    Elasticity elasticity = spec.elasticity();
    int most = most(spec);
    int begins = scaling.crowds(job) ? Menu.fewest(elasticity) : firstReplicas;
    int first = elasticity instanceof Elasticity.Restarting ? most : begins;
    int tried =
        job.maxProfiledReplicas() == 0
            ? first
            : (int) Math.min(most, growth * job.maxProfiledReplicas());
    int held = job.allocation().replicas();
    if (held > 0 && !now.indexByName().containsKey(job.allocation().node(0))) {
      held = 0;
    }
    return Math.max(Menu.fewest(elasticity), Math.min(most, Math.max(tried, held)));
  }

  private static Optional<Held> held(JobState job, Pools pools) {
    Allocation allocation = job.allocation();
    int pool = pools.of(allocation);
    if (pool < 0) {
      return Optional.empty();
    }
    String type = pools.gpuType(pool);
    int each = job.spec().slotsPerReplica(type);
    boolean allowed =
        pools.nodeSlots()[pool] >= each
            && job.spec().runsOn(type)
            && allocation.slotsPerReplica() == each
            && job.spec().elasticity().allows(allocation.replicas());
    return allowed ? Optional.of(new Held(pool, allocation.slots())) : Optional.empty();
  }

  private static boolean onMenu(JobState job, Held held, Pools pools) {
    int[] menu = Menu.slots(job.spec(), most(job.spec()), pools, held.pool());
    return Arrays.binarySearch(menu, held.slots()) >= 0;
  }

  private static int[] sizes(JobState job, int pool, Optional<Held> besides, Pools pools) {
    int[] menu = Menu.slots(job.spec(), most(job.spec()), pools, pool);
    if (besides.isEmpty() || besides.get().pool() != pool) {
      return menu;
    }
    int[] more = Arrays.copyOf(menu, menu.length + 1);
    more[menu.length] = besides.get().slots();
    Arrays.sort(more);
    return more;
  }

  static int most(JobSpec spec) {
    Elasticity elasticity = spec.elasticity();
    return elasticity instanceof Elasticity.Rigid
        ? elasticity.max()
        : Math.min(elasticity.max(), BatchChoice.maxReplicas(spec));
  }

  private static Offers offers(
      JobState job, int reach, Scaling.Belief belief, Optional<Held> besides, Pools pools) {
    int[] pool = new int[0];
    int[] slots = new int[0];
    double[] rate = new double[0];
    double fullRate = 0;
    for (int p = 0; p < pools.count(); p++) {
      int each = job.spec().slotsPerReplica(pools.gpuType(p));
      int perNode = pools.nodeSlots()[p] / each;
      for (int size : sizes(job, p, besides, pools)) {
        int replicas = size / each;
        int nodes = Math.ceilDiv(replicas, perNode);
        boolean offered = replicas <= reach;
        // Sizes beyond reach only tell how long the job may have to live: whole nodes are enough.
        double speed =
            offered || replicas % perNode == 0
                ? Rates.rate(job, pools, p, size, nodes)
                    * belief.share(replicas, Menu.fewest(job.spec().elasticity()), p)
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
