package dev.kastor.scheduler.model;

import java.util.Map;
import java.util.Optional;

/**
 * Numbers of a {@link Reason} that any policy may tell and that hosts understand: the forecast and
 * {@code kastor why} are made from them, whatever the policy. A policy may tell others besides.
 *
 * <p>Values, bids and prices of one policy have one unit, which the policy's page names.
 */
public enum ReasonNumber {
  /** Seconds until the job is done: at the size it gets, or at its best if it waits. */
  REMAINING_SECONDS("remainingSeconds"),

  /** Slots of the least size of a job that waits. */
  LEAST_SLOTS("leastSlots"),

  /** Worth of one slot of its least size to a job that waits; jobs start in this order. */
  BID_PER_SLOT("bidPerSlot"),

  /** Price of a slot where the job runs, or where its least size is cheapest. */
  PRICE_PER_SLOT("pricePerSlot"),

  /** Part of that price which is due to the quota of the job's queue. */
  QUOTA_PRICE_PER_SLOT("quotaPricePerSlot"),

  /** Slots that a running job adds with its next larger size. */
  MORE_SLOTS("moreSlots"),

  /** Worth of each of those slots to the job. */
  BID_PER_MORE_SLOT("bidPerMoreSlot"),

  /** Worth of a slot that the job holds to the job that is next in line for it. */
  NEXT_IN_LINE_PER_SLOT("nextInLinePerSlot"),

  /** Price of the job's nodes in money an hour. */
  MONEY_PER_HOUR("moneyPerHour"),

  /** How many times longer steps take on the job's slowest node than on others of its type. */
  SLOWDOWN("slowdown"),

  /** GPUs that the jobs of the queue hold. */
  QUEUE_USED("queueUsed"),

  /** GPUs that are the queue's own. */
  QUEUE_NOMINAL("queueNominal"),

  /** GPUs that the queue may hold at most, borrowed ones included. */
  QUEUE_CEILING("queueCeiling"),

  /** GPUs that the jobs of the queue's cohort hold. */
  COHORT_USED("cohortUsed"),

  /** GPUs of all queues of the cohort together. */
  COHORT_NOMINAL("cohortNominal");

  private final String key;

  ReasonNumber(String key) {
    this.key = key;
  }

  /** Name among a reason's numbers, in JSON too. */
  public String key() {
    return key;
  }

  /** Its value in a reason; empty where that does not tell it, or nothing finite. */
  public Optional<Double> of(Reason reason) {
    return Optional.ofNullable(reason.numbers().get(key)).filter(Double::isFinite);
  }

  /** Adds its value to the numbers of a reason. */
  public void put(Map<String, Double> numbers, double value) {
    numbers.put(key, value);
  }
}
