package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.Plan;
import java.util.LinkedHashMap;
import java.util.List;
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
  /** Plans whose worth differs by less than this share are worth the same. */
  private static final double EQUAL = 1e-9;

  Plan plan() {
    Allocation[] allocations = new Allocation[bids.size()];
    fixed.forEach(bid -> allocations[bid.index] = bid.job.allocation());
    draft.allocations().forEach((bid, allocation) -> allocations[bid] = allocation);
    rooms.unclaimed();
    for (Bid bid : bids) {
      Rooms.take(bid, allocations[bid.index].replicas());
    }
    Explanations why = new Explanations(bids, allocations, price, given, pools);
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
    for (double each : price) {
      if (each > 0) {
        return false;
      }
    }
    double most = 0;
    for (int index : draft.allocations().keySet()) {
      Bid bid = bids.get(index);
      int best = Shares.best(bid, price);
      most += best < 0 ? 0 : bid.value[best];
    }
    return rooms.none() && draft.value() >= most * (1 - EQUAL);
  }
}
