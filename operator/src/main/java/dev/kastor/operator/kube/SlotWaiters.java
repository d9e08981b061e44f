package dev.kastor.operator.kube;

import dev.kastor.scheduler.model.JobId;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Jobs that were given slots on nodes where others still hold them.
 *
 * <p>When a slot gets free, only these have to be looked at, however many jobs there are.
 * Thread-safe.
 */
@Singleton
public final class SlotWaiters {
  private final Map<String, Set<JobId>> byNode = new ConcurrentHashMap<>();

  /** The job wants to hear of slots on these nodes; call before looking whether there are any. */
  public void wait(JobId job, Collection<String> nodes) {
    for (String node : nodes) {
      byNode.compute(
          node,
          (name, waiting) -> {
            Set<JobId> all = waiting == null ? ConcurrentHashMap.newKeySet() : waiting;
            all.add(job);
            return all;
          });
    }
  }

  /** The job has what it waited for on these nodes, or wants it no more. */
  public void done(JobId job, Collection<String> nodes) {
    for (String node : nodes) {
      byNode.computeIfPresent(
          node,
          (name, waiting) -> {
            waiting.remove(job);
            return waiting.isEmpty() ? null : waiting;
          });
    }
  }

  /** A slot of the node got free: who waited for one. Each has to say so again. */
  public Set<JobId> freed(String node) {
    Set<JobId> waiting = byNode.remove(node);
    return waiting == null ? Set.of() : Set.copyOf(waiting);
  }
}
