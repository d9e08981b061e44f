package dev.kastor.operator.queue;

import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueSpec;
import dev.kastor.crds.queue.QueueSpec.PinsKind;
import dev.kastor.crds.queue.QueueSpec.QuotaSpec;
import dev.kastor.crds.queue.QueueSpec.StopPolicyKind;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobSpec;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.scheduler.model.BudgetUse;
import dev.kastor.scheduler.model.Quota;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.StopPolicy;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which queues there are and which of them a job may use.
 *
 * <p>A Queue object comes before a queue of the same name in {@code kastor.queues}, which has a
 * weight and nothing else. Immutable.
 *
 * @param objects Queue objects by name
 * @param configured queues of {@code kastor.queues} by name
 * @param maxPriority highest priority that counts of jobs whose queue says none
 * @param budgets budgets of the queues that have one, by name
 */
public record QueueDirectory(
    Map<String, Queue> objects,
    Map<String, dev.kastor.scheduler.model.Queue> configured,
    int maxPriority,
    Map<String, BudgetUse> budgets) {
  public QueueDirectory {
    objects = Map.copyOf(objects);
    configured = Map.copyOf(configured);
    budgets = Map.copyOf(budgets);
  }

  /** The directory of these objects, of whose budgets nothing is used. */
  public static QueueDirectory of(
      Collection<Queue> queues,
      Map<String, dev.kastor.scheduler.model.Queue> configured,
      int maxPriority) {
    return of(queues, configured, maxPriority, Map.of());
  }

  /** The directory of these objects. */
  public static QueueDirectory of(
      Collection<Queue> queues,
      Map<String, dev.kastor.scheduler.model.Queue> configured,
      int maxPriority,
      Map<String, BudgetUse> budgets) {
    Map<String, Queue> byName = new HashMap<>();
    queues.forEach(queue -> byName.put(queue.getMetadata().getName(), queue));
    return new QueueDirectory(byName, configured, maxPriority, budgets);
  }

  /**
   * The queue that a job belongs to: the one that it names, else {@value Queue#DEFAULT} where there
   * is such an object, else none, which is the empty text. What a job holds stays with the queue
   * that gave it when the job comes to name one that refuses it.
   */
  public String of(TrainingJob job) {
    TrainingJobStatus status = job.getStatus();
    return of(job, status == null ? null : status.allocation());
  }

  /** The same of a job whose newest allocation is this one. */
  public String of(TrainingJob job, @Nullable AllocationStatus allocation) {
    if (allocation == null || allocation.replicas() < 1 || refusal(job).isEmpty()) {
      return asked(job);
    }
    String giver = allocation.queue();
    return giver == null ? "" : giver;
  }

  /** Whether a queue exists. */
  public boolean has(String queue) {
    return queue.isEmpty() || objects.containsKey(queue) || configured.containsKey(queue);
  }

  /** The priority that counts of a job in a queue. */
  public int priority(TrainingJob job, String queue) {
    BudgetUse budget = budgets.get(queue);
    return budget != null && budget.lowers()
        ? BudgetUse.LAST
        : Math.min(asked(job.getSpec()), maxPriority(queue));
  }

  /** Why the priority of a job counts less than it asks for; empty if it does not. */
  public Optional<Reason> priorityLimit(TrainingJob job) {
    String queue = of(job);
    BudgetUse budget = budgets.get(queue);
    if (budget != null && budget.lowers()) {
      return Optional.of(budget.lowered(queue));
    }
    int asked = asked(job.getSpec());
    int most = maxPriority(queue);
    return asked <= most
        ? Optional.empty()
        : Optional.of(
            Reason.of(
                "AboveMaxPriority",
                "spec.priority is %d and counts as %d, the highest of %s. Lower it, or ask the platform team for a queue with a higher maxPriority."
                    .formatted(
                        asked,
                        most,
                        queue.isEmpty() ? "jobs of no queue" : "jobs of queue " + queue)));
  }

  private static int asked(TrainingJobSpec spec) {
    Integer priority = spec.priority();
    return priority == null ? 0 : priority;
  }

  private int maxPriority(String name) {
    Queue queue = objects.get(name);
    Integer most = queue == null || queue.getSpec() == null ? null : queue.getSpec().maxPriority();
    return most == null ? maxPriority : most;
  }

  private String asked(TrainingJob job) {
    String named = job.getSpec().queue();
    if (named != null) {
      return named;
    }
    return objects.containsKey(Queue.DEFAULT) ? Queue.DEFAULT : "";
  }

  /** Why a job may not be in the queue that it asks for; empty if it may. */
  public Optional<Reason> refusal(TrainingJob job) {
    String name = asked(job);
    Queue queue = objects.get(name);
    if (queue == null) {
      return name.isEmpty() || configured.containsKey(name)
          ? Optional.empty()
          : Optional.of(
              Reason.of(
                  "QueueNotFound",
                  "spec.queue is %s, but there is no Queue of that name. Name one that kubectl get queues.kastor.dev lists, or create it."
                      .formatted(name)));
    }
    List<String> namespaces = queue.getSpec() == null ? null : queue.getSpec().namespaces();
    String namespace = job.getMetadata().getNamespace();
    return namespaces == null || namespaces.isEmpty() || namespaces.contains(namespace)
        ? Optional.empty()
        : Optional.of(
            Reason.of(
                "QueueNotAllowed",
                "%s, but that Queue does not list namespace %s. Name another, or add the namespace to spec.namespaces of the Queue."
                    .formatted(
                        job.getSpec().queue() == null
                            ? "A job that names no queue belongs to queue " + name
                            : "spec.queue is " + name,
                        namespace)));
  }

  /** All queues as the scheduler knows them. */
  public Map<String, dev.kastor.scheduler.model.Queue> queues() {
    Map<String, dev.kastor.scheduler.model.Queue> all = new HashMap<>(configured);
    objects.forEach((name, queue) -> {
      BudgetUse budget = budgets.get(name);
      dev.kastor.scheduler.model.Queue made = orHeld(queue);
      all.put(name, budget == null ? made : budget.applied(made));
    });
    return all;
  }

  /** What is wrong with a queue that the definition's rules should not have let in. */
  static Optional<String> problem(Queue queue) {
    try {
      queue(queue);
      return Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  /** A queue that makes no sense lets nobody start, and all others go on. */
  private static dev.kastor.scheduler.model.Queue orHeld(Queue queue) {
    return problem(queue).isEmpty()
        ? queue(queue)
        : new dev.kastor.scheduler.model.Queue(
            queue.getMetadata().getName(),
            dev.kastor.scheduler.model.Queue.DEFAULT_WEIGHT,
            "",
            Optional.empty(),
            StopPolicy.HOLD);
  }

  private static dev.kastor.scheduler.model.Queue queue(Queue queue) {
    String name = queue.getMetadata().getName();
    QueueSpec spec = queue.getSpec();
    if (spec == null) {
      return new dev.kastor.scheduler.model.Queue(name);
    }
    Double weight = spec.weight();
    String cohort = spec.cohort();
    return new dev.kastor.scheduler.model.Queue(
        name,
        weight == null ? dev.kastor.scheduler.model.Queue.DEFAULT_WEIGHT : weight,
        cohort == null ? "" : cohort,
        Optional.ofNullable(spec.quota()).map(QueueDirectory::quota),
        stop(spec.stopPolicy()),
        spec.pins() == PinsKind.Always);
  }

  private static Quota quota(QuotaSpec spec) {
    return new Quota(
        spec.gpus(), orUnlimited(spec.borrowingLimit()), orUnlimited(spec.lendingLimit()));
  }

  private static int orUnlimited(@Nullable Integer limit) {
    return limit == null ? Quota.UNLIMITED : limit;
  }

  private static StopPolicy stop(@Nullable StopPolicyKind kind) {
    return switch (kind) {
      case null -> StopPolicy.NONE;
      case None -> StopPolicy.NONE;
      case Hold -> StopPolicy.HOLD;
      case HoldAndDrain -> StopPolicy.HOLD_AND_DRAIN;
    };
  }
}
