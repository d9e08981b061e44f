package dev.kastor.operator.queue;

import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * What a queue uses of its own quota and of others'.
 *
 * @param nominal GPUs that it is entitled to
 * @param used GPUs that its jobs hold
 * @param borrowed of those, GPUs beyond its quota
 * @param lent GPUs of its quota that others of its cohort hold
 */
public record QueueUse(int nominal, int used, int borrowed, int lent) {
  /**
   * The use of each queue with a quota. What a cohort borrows counts as lent by those who leave
   * most of theirs unused, GPU by GPU.
   *
   * @param queues queues by name
   * @param used GPUs that the jobs of each hold
   */
  public static SequencedMap<String, QueueUse> of(
      Map<String, Queue> queues, Map<String, Integer> used) {
    SequencedMap<String, QueueUse> uses = new LinkedHashMap<>();
    Map<String, Map<String, Integer>> idle = new TreeMap<>();
    Map<String, Integer> borrowed = new TreeMap<>();
    new TreeMap<>(queues)
        .forEach((name, queue) ->
            queue
                .quota()
                .ifPresent(quota -> {
                  int held = used.getOrDefault(name, 0);
                  int beyond = Math.max(0, held - quota.gpus());
                  uses.put(name, new QueueUse(quota.gpus(), held, beyond, 0));
                  if (!queue.cohort().isEmpty()) {
                    borrowed.merge(queue.cohort(), beyond, Integer::sum);
                    idle.computeIfAbsent(queue.cohort(), cohort -> new TreeMap<>())
                        .put(name, idle(quota, held));
                  }
                }));
    idle.forEach((cohort, lenders) ->
        lend(borrowed.getOrDefault(cohort, 0), lenders)
            .forEach((name, lent) ->
                uses.computeIfPresent(
                    name,
                    (key, use) -> new QueueUse(use.nominal(), use.used(), use.borrowed(), lent))));
    return uses;
  }

  private static int idle(Quota quota, int held) {
    return Math.clamp((long) quota.gpus() - held, 0, quota.lendable());
  }

  /** Shares out in proportion to what is idle; the rest goes in the order of names. */
  private static Map<String, Integer> lend(int borrowed, Map<String, Integer> idle) {
    long all = idle.values().stream().mapToLong(Integer::longValue).sum();
    Map<String, Integer> lent = new TreeMap<>();
    int left = (int) Math.min(borrowed, all);
    int wanted = left;
    for (var lender : idle.entrySet()) {
      int part = all == 0 ? 0 : (int) ((long) wanted * lender.getValue() / all);
      lent.put(lender.getKey(), part);
      left -= part;
    }
    for (var lender : idle.entrySet()) {
      int part = lent.getOrDefault(lender.getKey(), 0);
      int more = Math.min(left, lender.getValue() - part);
      lent.put(lender.getKey(), part + more);
      left -= more;
    }
    return lent;
  }
}
