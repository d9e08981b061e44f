package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueUse;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.StopPolicy;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A queue, what its jobs hold and what its weight entitles them to; {@code GET /api/v1/queues}.
 *
 * @param name as jobs name it; empty for jobs that name none
 * @param weight its weight
 * @param running jobs that hold slots
 * @param waiting jobs that hold none and are not suspended
 * @param slotsHeld slots that its jobs hold
 * @param slotsWanted slots that its jobs would hold at their largest
 * @param slotsDeserved slots in proportion to its weight among the queues that have jobs; no more
 *     than are wanted, and what one does not want goes to the others
 * @param slotsTotal slots of the cluster
 * @param cohort the queues that it borrows of and lends to; absent for none
 * @param nominal slots of its quota; absent where it has none
 * @param borrowingLimit most slots beyond its quota; absent for no limit
 * @param lendingLimit most slots of its quota that others may hold; absent for no limit
 * @param borrowed slots that its jobs hold beyond its quota
 * @param lent slots of its quota that others of its cohort hold
 * @param stopPolicy whether its jobs start and run
 * @param budget GPU-hours of its budget; absent where it has none
 * @param budgetPeriod day, week or month
 * @param budgetUsed GPU-hours that its jobs held since the period began
 * @param budgetUntil when the next period begins
 */
public record QueueRow(
    String name,
    double weight,
    int running,
    int waiting,
    int slotsHeld,
    int slotsWanted,
    double slotsDeserved,
    int slotsTotal,
    @Nullable String cohort,
    @Nullable Integer nominal,
    @Nullable Integer borrowingLimit,
    @Nullable Integer lendingLimit,
    int borrowed,
    int lent,
    StopPolicy stopPolicy,
    @Nullable Double budget,
    @Nullable String budgetPeriod,
    @Nullable Double budgetUsed,
    @Nullable Instant budgetUntil) {

  /** A row for each queue that there is or that has a job that has not ended, by name. */
  static List<QueueRow> of(List<TrainingJob> jobs, QueueDirectory directory, int slotsTotal) {
    Map<String, Queue> configured = directory.queues();
    Map<String, Tally> tallies = new TreeMap<>();
    configured.keySet().forEach(name -> tallies.put(name, new Tally()));
    for (TrainingJob job : jobs) {
      if (!JobMapper.finished(job) && !job.getSpec().suspended()) {
        tallies.computeIfAbsent(directory.of(job), n -> new Tally()).add(job);
      }
    }
    double[] weights =
        tallies.keySet().stream().mapToDouble(name -> weight(configured, name)).toArray();
    double[] wanted = tallies.values().stream().mapToDouble(t -> t.wanted).toArray();
    double[] deserved = deserved(weights, wanted, slotsTotal);
    Map<String, Integer> held = new HashMap<>();
    tallies.forEach((name, tally) -> held.put(name, tally.held));
    Map<String, QueueUse> uses = QueueUse.of(configured, held);
    int[] index = {0};
    return tallies.entrySet().stream()
        .map(entry -> {
          int i = index[0]++;
          Tally tally = entry.getValue();
          Queue queue = configured.getOrDefault(entry.getKey(), new Queue(entry.getKey()));
          QueueUse use = uses.get(entry.getKey());
          BudgetUse budget = directory.budgets().get(entry.getKey());
          return new QueueRow(
              entry.getKey(),
              weights[i],
              tally.running,
              tally.waiting,
              tally.held,
              tally.wanted,
              deserved[i],
              slotsTotal,
              queue.cohort().isEmpty() ? null : queue.cohort(),
              queue.quota().map(Quota::gpus).orElse(null),
              limit(queue, Quota::borrowingLimit),
              limit(queue, Quota::lendingLimit),
              use == null ? 0 : use.borrowed(),
              use == null ? 0 : use.lent(),
              queue.stop(),
              budget == null ? null : budget.budget().gpuHours(),
              budget == null ? null : budget.budget().period().name().toLowerCase(Locale.ROOT),
              budget == null ? null : budget.usedHours(),
              budget == null ? null : budget.until());
        })
        .toList();
  }

  private static @Nullable Integer limit(Queue queue, Function<Quota, Integer> of) {
    return queue.quota().map(of).filter(limit -> limit < Quota.UNLIMITED).orElse(null);
  }

  private static double weight(Map<String, Queue> configured, String name) {
    Queue queue = configured.get(name);
    return queue == null ? Queue.DEFAULT_WEIGHT : queue.weight();
  }

  /** Shares by weight, none above what is wanted; what is left over is shared again. */
  private static double[] deserved(double[] weights, double[] wanted, double total) {
    double[] deserved = new double[weights.length];
    double left = total;
    boolean capped = true;
    while (capped) {
      capped = false;
      double sum = 0;
      for (int i = 0; i < weights.length; i++) {
        sum += deserved[i] < wanted[i] ? weights[i] : 0;
      }
      double perWeight = sum > 0 ? left / sum : 0;
      for (int i = 0; i < weights.length; i++) {
        if (deserved[i] < wanted[i] && weights[i] * perWeight >= wanted[i]) {
          deserved[i] = wanted[i];
          left -= wanted[i];
          capped = true;
        }
      }
      for (int i = 0; i < weights.length && !capped; i++) {
        if (deserved[i] < wanted[i]) {
          deserved[i] = weights[i] * perWeight;
        }
      }
    }
    return deserved;
  }

  private static final class Tally {
    private int running;
    private int waiting;
    private int held;
    private int wanted;

    private void add(TrainingJob job) {
      TrainingJobStatus status = job.getStatus();
      int holds = status == null || status.allocation() == null ? 0 : status.allocation().slots();
      running += holds > 0 ? 1 : 0;
      waiting += holds > 0 ? 0 : 1;
      held += holds;
      var elastic = job.getSpec().elastic();
      Integer max = elastic == null ? null : elastic.maxReplicas();
      wanted += (max == null ? 1 : max) * job.getSpec().slotsPerReplica();
    }
  }
}
