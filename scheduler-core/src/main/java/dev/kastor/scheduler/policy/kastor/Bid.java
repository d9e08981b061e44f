package dev.kastor.scheduler.policy.kastor;

import dev.kastor.scheduler.model.JobState;
import org.jspecify.annotations.Nullable;

/** What a job offers for GPUs in one round. Owned by the planning call. */
final class Bid {
  final int index;
  final JobState job;
  final Offers offers;

  /** The offer that the job holds now; -1 if it holds nothing that can be offered. */
  final int held;

  /** Seconds that its work would still take at the best size it may ever have. */
  final double remaining;

  /**
   * Whether its work and its speed are known, from its reports or its family; else time left is a
   * guess.
   */
  final boolean certain;

  /** What its owner's queue, its priority and its wait make its progress count, against 1. */
  final double weight;

  /** Share of all jobs that it would delay by taking GPU time: those that outlast it. */
  double delays = 1;

  /** Seconds of all jobs' time that an effective example of this job saves. */
  double worth;

  /** Seconds saved in a second by each offer; the cost of a change and money are taken off. */
  final double[] value;

  /** The same where nothing would run on where it runs now, so that it starts anew. */
  final double[] valueRestarted;

  Bid(
      int index,
      JobState job,
      Offers offers,
      int held,
      double remaining,
      boolean certain,
      double weight) {
    this.index = index;
    this.job = job;
    this.offers = offers;
    this.held = held;
    this.remaining = remaining;
    this.certain = certain;
    this.weight = weight;
    value = new double[offers.count()];
    valueRestarted = new double[offers.count()];
  }

  /** What its queue may hold; null where that has no quota. */
  Rooms.@Nullable Room room;

  /** What a slot costs it on top because of its queue's quota. */
  double queuePrice;

  /** Most slots that its queue leaves to it, were it alone. */
  int mostSlots = Integer.MAX_VALUE;

  /** Seconds for which it keeps what it holds whatever comes; 0 for a bid that is open. */
  double settledSeconds;

  /** Whether that is because it ends sooner than a pause would take. */
  boolean ending;

  /** Whether its pauses count for nothing, as they keep GPUs from a job of a higher priority. */
  boolean yields;

  /** Whether it has not yet done all that was declared; false where nothing was. */
  boolean workLeft() {
    return job.progress()
        .map(now -> job.outlook().totalSteps(now) > now.scaleInvariantSteps())
        .orElse(false);
  }

  /** Seconds for which it pauses to change within the GPU type that it runs on. */
  double rescalePause() {
    return job.rescaleCost().toNanos() * 1e-9;
  }

  /** Seconds for which replicas that it adds start, while the others train on. */
  double startSeconds() {
    return job.startCost().toNanos() * 1e-9;
  }

  /** Seconds for which it pauses to start. */
  double restartPause() {
    return job.restartCost().toNanos() * 1e-9;
  }

  /** Seconds left at a rate. */
  double left(double rate) {
    return offers.fullRate() > 0 ? remaining * offers.fullRate() / rate : remaining;
  }
}
