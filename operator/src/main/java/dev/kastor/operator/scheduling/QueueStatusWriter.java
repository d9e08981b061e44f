package dev.kastor.operator.scheduling;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kastor.crds.queue.Queue;
import dev.kastor.crds.queue.QueueStatus;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.MergePatch;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.queue.QueueStatuses;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.model.BudgetUse;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what queues hold into their status: only what changed, and at most once in {@link
 * #PERIOD}. Used by one thread.
 */
@Singleton
public final class QueueStatusWriter {
  /** Shortest time between two looks at the queues. */
  static final Duration PERIOD = Duration.ofSeconds(3);

  private static final Logger LOG = LoggerFactory.getLogger(QueueStatusWriter.class);
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private final ClusterCache cache;
  private final QueueRules rules;
  private final AllocationWriter allocations;
  private final KubernetesClient client;
  private final Metrics metrics;
  private final Signals signals;
  private final InstantSource clock;
  private final Map<String, QueueStatus> written = new HashMap<>();
  private final Set<String> measured = new HashSet<>();
  private Set<String> spent = Set.of();
  private Instant next = Instant.EPOCH;

  public QueueStatusWriter(
      ClusterCache cache,
      QueueRules rules,
      AllocationWriter allocations,
      KubernetesClient client,
      Metrics metrics,
      Signals signals,
      InstantSource clock) {
    this.cache = cache;
    this.rules = rules;
    this.allocations = allocations;
    this.client = client;
    this.metrics = metrics;
    this.signals = signals;
    this.clock = clock;
  }

  /** Writes what has changed, if it is time to look again. */
  public void writeIfDue() {
    Instant now = clock.instant();
    if (now.isBefore(next)) {
      return;
    }
    next = now.plus(PERIOD);
    QueueDirectory directory = rules.directory();
    forget(directory.objects().keySet());
    noteSpent(directory.budgets());
    if (directory.objects().isEmpty()) {
      return;
    }
    Map<String, QueueStatuses.Count> counts = new HashMap<>();
    for (TrainingJob job : cache.jobs()) {
      if (!JobMapper.finished(job)) {
        AllocationStatus allocation = allocations.current(job);
        counts
            .computeIfAbsent(directory.of(job), name -> new QueueStatuses.Count())
            .add(allocation == null ? 0 : allocation.slots(), JobMapper.wantsToRun(job));
      }
    }
    QueueStatuses.of(directory, counts, now)
        .forEach((name, status) -> {
          Queue queue = directory.objects().get(name);
          if (queue != null) {
            measure(queue, status, directory.budgets().get(name));
            write(queue, status);
          }
        });
    written.keySet().retainAll(uids(directory));
  }

  /** A budget that is spent, and one of a period that begins, are not to wait for a round. */
  private void noteSpent(Map<String, BudgetUse> all) {
    Set<String> now =
        all.entrySet().stream()
            .filter(entry -> entry.getValue().spent())
            .map(Map.Entry::getKey)
            .collect(Collectors.toUnmodifiableSet());
    if (!now.equals(spent)) {
      spent = now;
      signals.round();
    }
  }

  private static Set<String> uids(QueueDirectory directory) {
    Set<String> uids = new HashSet<>();
    directory.objects().values().forEach(queue -> uids.add(queue.getMetadata().getUid()));
    return uids;
  }

  private void measure(Queue queue, QueueStatus status, @Nullable BudgetUse budget) {
    String name = queue.getMetadata().getName();
    measured.add(name);
    var quota = queue.getSpec().quota();
    metrics.queues().holds(name, quota == null ? null : quota.gpus(), status);
    if (budget == null) {
      metrics.queues().noBudget(name);
    } else {
      metrics.queues().budget(name, budget.budget().gpuHours(), budget.usedHours());
    }
  }

  private void forget(Set<String> there) {
    measured.stream().filter(name -> !there.contains(name)).forEach(metrics.queues()::forget);
    measured.retainAll(there);
  }

  private void write(Queue queue, QueueStatus status) {
    String uid = queue.getMetadata().getUid();
    QueueStatus before = written.getOrDefault(uid, queue.getStatus());
    if (status.equals(before)) {
      return;
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("metadata").put("uid", uid);
    body.set("status", JSON.valueToTree(status));
    try {
      MergePatch.send(client, queue, body.toString());
      written.put(uid, status);
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        LOG.warn(
            "status of queue {} cannot be written: {}",
            queue.getMetadata().getName(),
            e.getMessage());
      }
    }
  }
}
