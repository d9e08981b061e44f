package dev.kastor.operator.queue;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.scheduler.model.Queue;
import dev.kastor.scheduler.model.Reason;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The queues as they are now. Thread-safe. */
@Singleton
public final class QueueRules {
  private final ClusterCache cache;
  private final QueueBudgets budgets;
  private final Map<String, Queue> configured;
  private final int maxPriority;

  /**
   * Reads {@code kastor.queues} once.
   *
   * @throws IllegalArgumentException if it does not say names and weights
   */
  public QueueRules(ClusterCache cache, QueueBudgets budgets, OperatorConfig config) {
    this.cache = cache;
    this.budgets = budgets;
    configured = Queue.parse(config.queues().orElse(""));
    maxPriority = config.maxPriority();
  }

  /** All of them at this moment. */
  public QueueDirectory directory() {
    List<dev.kastor.crds.queue.Queue> queues = cache.queues();
    return QueueDirectory.of(queues, configured, maxPriority, budgets.of(queues));
  }

  /** Why a job may not be in the queue that it asks for; empty if it may. */
  public Optional<Reason> refusal(TrainingJob job) {
    return directory().refusal(job);
  }
}
