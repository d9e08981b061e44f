package dev.kastor.cli.why;

import dev.kastor.cli.view.JobView;
import dev.kastor.scheduler.model.ReasonNumber;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What would have to be different for a job that its queue keeps waiting. */
final class QuotaCounterfactual {
  private QuotaCounterfactual() {}

  /** Sentences; empty if it is not its queue that it waits for. */
  static Optional<List<String>> sentences(JobView job, Decision decision) {
    return switch (decision.reason()) {
      case "WaitingForQuota", "Reclaimed" ->
          decision.replicas() == 0 ? Optional.of(waits(job, decision)) : Optional.empty();
      case "ExceedsQuota" -> Optional.of(exceeds(job, decision));
      case "QueueHeld", "QueueDrained" ->
          Optional.of(
              List.of(
                  "It starts once the queue lets it: kubectl patch queues.kastor.dev %s --type merge -p '{\"spec\":{\"stopPolicy\":\"None\"}}'"
                      .formatted(queue(job))));
      case "BudgetSpent" ->
          Optional.of(
              List.of(
                  "It goes on with the next period of the budget, or with a higher one: kastor queue set %s --budget HOURS/week"
                      .formatted(queue(job))));
      case "QueueNotFound", "QueueNotAllowed" ->
          Optional.of(
              List.of(
                  "It starts in a queue that lets it in: kubectl patch trainingjob %s -n %s --type merge -p '{\"spec\":{\"queue\":\"NAME\"}}'"
                      .formatted(job.name(), job.namespace())));
      default -> Optional.empty();
    };
  }

  private static List<String> waits(JobView job, Decision decision) {
    List<String> sentences = new ArrayList<>();
    Optional<Double> least = decision.number(ReasonNumber.LEAST_SLOTS);
    Optional<Double> used = decision.number(ReasonNumber.QUEUE_USED);
    Optional<Double> nominal = decision.number(ReasonNumber.QUEUE_NOMINAL);
    Optional<Double> ceiling = decision.number(ReasonNumber.QUEUE_CEILING);
    if (used.isEmpty() || nominal.isEmpty() || ceiling.isEmpty()) {
      return sentences;
    }
    String queue = queue(job);
    double needs = least.orElse((double) job.minReplicas());
    double cohortUsed = decision.number(ReasonNumber.COHORT_USED).orElse(0.0);
    double cohortNominal = decision.number(ReasonNumber.COHORT_NOMINAL).orElse(0.0);
    double beyondCeiling = used.get() + needs - ceiling.get();
    double beyondCohort = cohortNominal == 0 ? 0 : cohortUsed + needs - cohortNominal;
    if (beyondCeiling > 0) {
      sentences.add(
          "It starts when other jobs of queue %s give back %s, or when quota.gpus%s of the queue is higher by as much: kubectl edit queues.kastor.dev %s"
              .formatted(
                  queue,
                  gpus(beyondCeiling),
                  cohortNominal == 0 ? "" : " or quota.borrowingLimit",
                  queue));
    } else if (used.get() + needs <= nominal.get()) {
      sentences.add(
          "Its queue is entitled to what it needs: it starts as soon as those who borrowed it, and may not be stopped now, give it back.");
    } else if (beyondCohort > 0) {
      sentences.add(
          "It starts when the queues of its cohort leave %s more, or when quota.gpus of queue %s is higher by as much: kubectl edit queues.kastor.dev %s"
              .formatted(gpus(beyondCohort), queue, queue));
    } else {
      sentences.add(
          "It starts when queues of its cohort lend more (quota.lendingLimit), or when quota.gpus of queue %s is higher by %s: kubectl edit queues.kastor.dev %s"
              .formatted(queue, gpus(used.get() + needs - nominal.get()), queue));
    }
    if (job.minReplicas() > 1) {
      sentences.add(Counterfactual.smaller(job));
    }
    return sentences;
  }

  private static List<String> exceeds(JobView job, Decision decision) {
    List<String> sentences = new ArrayList<>();
    decision
        .number(ReasonNumber.QUEUE_CEILING)
        .ifPresent(ceiling -> {
          if (ceiling >= 1) {
            sentences.add(
                "With a least size of %s it could start: kastor scale %s --min N"
                    .formatted(gpus(ceiling), job.name()));
          }
          decision
              .number(ReasonNumber.LEAST_SLOTS)
              .ifPresent(least ->
                  sentences.add(
                      "As it is it could start if quota.gpus of queue %s were higher by %s: kubectl edit queues.kastor.dev %s"
                          .formatted(queue(job), gpus(least - ceiling), queue(job))));
        });
    return sentences;
  }

  private static String queue(JobView job) {
    return job.queue() == null ? "default" : job.queue();
  }

  private static String gpus(double count) {
    return count == 1 ? "1 GPU" : "%d GPUs".formatted(Math.round(count));
  }
}
