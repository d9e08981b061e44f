package dev.kastor.scheduler.policy.quota;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.ReasonNumber;
import dev.kastor.scheduler.plan.QuotaAccount;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/** Says with numbers what quotas do to a job. */
public final class QuotaReasons {
  private QuotaReasons() {}

  /** It waits although its queue could hold it: others of the queue or of its cohort hold that. */
  public static Reason waits(
      QuotaAccount account, int leastSlots, SequencedMap<String, Double> of) {
    SequencedMap<String, Double> numbers = numbers(account, of);
    ReasonNumber.LEAST_SLOTS.put(numbers, leastSlots);
    return new Reason(
        "WaitingForQuota",
        "It needs %s, and %s.".formatted(gpus(leastSlots), state(account)),
        numbers);
  }

  /** No end of another job lets it in. */
  public static Reason exceeds(QuotaAccount account, int leastSlots) {
    SequencedMap<String, Double> numbers = numbers(account, new LinkedHashMap<>());
    ReasonNumber.LEAST_SLOTS.put(numbers, leastSlots);
    return new Reason(
        "ExceedsQuota",
        "Its least size is %s, but queue %s may never hold more than %d. Lower elastic.minReplicas of the job, or raise quota.gpus or quota.borrowingLimit of the queue."
            .formatted(gpus(leastSlots), account.queue().name(), account.ceiling()),
        numbers);
  }

  /** It would have grown. */
  public static Reason atQuota(QuotaAccount account, SequencedMap<String, Double> of) {
    return new Reason(
        "AtQuota", "It would grow, but %s.".formatted(state(account)), numbers(account, of));
  }

  /** It gives GPUs back that its queue may not hold any longer. */
  public static Reason reclaimed(QuotaAccount account, SequencedMap<String, Double> of) {
    String why =
        account.queue().cohort().isEmpty() || account.atOwnLimit()
            ? "Its queue held more than it may: now %s.".formatted(state(account))
            : "Its queue borrowed GPUs that cohort %s takes back: now %s."
                .formatted(account.queue().cohort(), state(account));
    return new Reason("Reclaimed", why, numbers(account, of));
  }

  /** Its queue lets nobody start. */
  public static Reason held(Queue queue) {
    return Reason.of(
        "QueueHeld",
        "Queue %s lets no job start. Set its stopPolicy to None to go on.".formatted(queue.name()));
  }

  /** Its queue lets nobody run. */
  public static Reason drained(Queue queue) {
    return queue
        .stopReason()
        .orElseGet(() ->
            Reason.of(
                "QueueDrained",
                "Queue %s lets no job run. Set its stopPolicy to None to go on."
                    .formatted(queue.name())));
  }

  private static String state(QuotaAccount account) {
    Queue queue = account.queue();
    String own =
        "queue %s holds %d of its %d GPUs"
            .formatted(queue.name(), account.used(), account.nominal());
    if (queue.cohort().isEmpty()) {
      return own;
    }
    return account.atOwnLimit() && account.used() > account.nominal()
        ? own + " and may borrow no more"
        : own
            + " and cohort %s %d of %d"
                .formatted(queue.cohort(), account.usedByCohort(), account.nominalOfCohort());
  }

  private static SequencedMap<String, Double> numbers(
      QuotaAccount account, SequencedMap<String, Double> others) {
    SequencedMap<String, Double> numbers = new LinkedHashMap<>(others);
    ReasonNumber.QUEUE_USED.put(numbers, (double) account.used());
    ReasonNumber.QUEUE_NOMINAL.put(numbers, (double) account.nominal());
    ReasonNumber.QUEUE_CEILING.put(numbers, (double) account.ceiling());
    if (!account.queue().cohort().isEmpty()) {
      ReasonNumber.COHORT_USED.put(numbers, (double) account.usedByCohort());
      ReasonNumber.COHORT_NOMINAL.put(numbers, (double) account.nominalOfCohort());
    }
    return numbers;
  }

  private static String gpus(int count) {
    return count == 1 ? "1 GPU" : count + " GPUs";
  }
}
