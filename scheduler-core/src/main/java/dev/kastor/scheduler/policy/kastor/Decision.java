package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.plan.Plan;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalInt;
import java.util.SequencedMap;

/**
 * What a round came to, before it is put into words.
 *
 * @param bids all bids, by index
 * @param fixed those that were not for sale
 * @param draft what the others get
 * @param price price of a slot of each pool
 * @param given what the market gave before nodes were found
 * @param pools the cluster
 * @param rooms what the quotas of queues leave
 */
@SuppressWarnings("ArrayRecordComponent") // handed from one step to the next, never compared
record Decision(
    List<Bid> bids,
    List<Bid> fixed,
    Draft draft,
    double[] price,
    Shares.Given given,
    Pools pools,
    Rooms rooms) {
  /**
   * What is a smaller share of the whole is nothing: the prices between pools that are the same to
   * all jobs, and less than a hundredth of what one of ten thousand jobs gets.
   */
  private static final double NOTHING = 1e-6;

  /**
   * The highest priority of which a job would be faster with more, while one of a lower priority
   * keeps what it held; empty where there is none.
   */
  OptionalInt claimant() {
    int least = Integer.MAX_VALUE;
    for (Bid bid : bids) {
      if (bid.held >= 0 && !bid.job.pinned() && !given(bid).isEmpty()) {
        least = Math.min(least, bid.job.spec().priority());
      }
    }
    int below = least;
    return bids.stream()
        .filter(bid -> bid.job.spec().priority() > below && !bid.job.pinned())
        .filter(bid -> share(bid) < 1 - NOTHING)
        .mapToInt(bid -> bid.job.spec().priority())
        .max();
  }

  /** How fast the jobs of a priority and above it are, each against its best size now. */
  double speed(int priority) {
    double sum = 0;
    for (Bid bid : bids) {
      sum += bid.job.spec().priority() < priority ? 0 : share(bid);
    }
    return sum;
  }

  private double share(Bid bid) {
    double best = 0;
    for (double rate : bid.offers.rate()) {
      best = Math.max(best, rate);
    }
    Allocation given = given(bid);
    int pool = pools.of(given);
    int offer = bid.offers.find(pool, given.slots());
    if (best <= 0 || offer < 0) {
      return best <= 0 ? 1 : 0;
    }
    // Offers are on as few nodes as can hold them; it may have got more.
    return pools.scattered(given, pool)
        ? Rates.rate(bid.job, pools, pool, given.slots(), given.nodes()) / best
        : bid.offers.rate()[offer] / best;
  }

  private Allocation given(Bid bid) {
    return draft.allocations().getOrDefault(bid.index, bid.job.allocation());
  }

  Plan plan() {
    Allocation[] allocations = new Allocation[bids.size()];
    bids.forEach(bid -> allocations[bid.index] = given(bid));
    rooms.unclaimed();
    for (Bid bid : bids) {
      Rooms.take(bid, allocations[bid.index].slots());
    }
    Explanations why = new Explanations(bids, allocations, price, given, pools, draft.movedFor());
    SequencedMap<JobId, Plan.Assignment> assignments = new LinkedHashMap<>();
    for (Bid bid : bids) {
      Allocation allocation = allocations[bid.index];
      assignments.put(bid.job.id(), new Plan.Assignment(allocation, why.of(bid, allocation)));
    }
    return new Plan(assignments, ample());
  }

  /**
   * Whether nobody bids for what another has, and each job that may change was given what gains it
   * most, on nodes as good as any: what a job gets then follows from that job alone.
   */
  private boolean ample() {
    double most = 0;
    for (int index : draft.allocations().keySet()) {
      double best = 0;
      for (double value : bids.get(index).value) {
        best = Math.max(best, value);
      }
      most += best;
    }
    double paid = 0;
    for (int p = 0; p < price.length; p++) {
      paid += price[p] * pools.slots()[p];
    }
    return rooms.none() && paid <= NOTHING * most && draft.value() >= most * (1 - NOTHING);
  }
}
