package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.ComingPods;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.queue.QuotaGate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Quotas;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of allocations that were decided, on their way to the API server. Thread-safe.
 *
 * <p>A change that quotas leave no room for now is held back; a round looks at it again.
 */
@Singleton
final class AllocationChanges {
  private static final Logger LOG = LoggerFactory.getLogger(AllocationChanges.class);

  private static final CountDownLatch AT_ONCE = new CountDownLatch(0);

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final KubernetesCluster.Knowledge knowledge;
  private final QueueRules queues;
  private final NodeUses uses;
  private final ComingPods coming;
  private final SlotCount slots;
  private final Signals signals;
  private final Metrics metrics;
  private final InstantSource clock;
  private final WritesUnderWay writes = new WritesUnderWay();
  private volatile boolean heldBack;

  AllocationChanges(
      ClusterCache cache,
      AllocationWriter allocations,
      KubernetesCluster.Knowledge knowledge,
      QueueRules queues,
      NodeUses uses,
      ComingPods coming,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    this.cache = cache;
    this.allocations = allocations;
    this.knowledge = knowledge;
    this.queues = queues;
    this.uses = uses;
    this.coming = coming;
    slots = new SlotCount(config.slotResource());
    this.signals = signals;
    this.metrics = metrics;
    this.clock = clock;
  }

  /** Whether a round has to let the job alone, of which it is told when it need not any more. */
  boolean passOver(TrainingJob job) {
    return writes.passOver(job);
  }

  /**
   * Begins to store the changes, side by side, and does not wait: an API server that is slow to
   * answer must not keep others from being decided on.
   *
   * <p>One caller at a time: rounds and newcomers are decided by two threads, and each has to see
   * in the quotas what the other has begun.
   *
   * @param all whether a round over all decided them, whoever was held back before among them
   * @return whether quotas held back any of them, which a round has to look at again
   */
  synchronized boolean carryOut(List<Change> changes, boolean all) {
    boolean before = heldBack && !all;
    // Whatever is stored while this looks at quotas may be what it finds missing.
    heldBack = true;
    List<QuotaGate.Open> open = withinQuotas(changes);
    boolean some = open.size() < changes.size();
    heldBack = before || some;
    List<Begun> begun =
        open.stream()
            .flatMap(change ->
                cache.job(change.change().job()).filter(knowledge::wantsToRun).stream()
                    .map(job -> new Begun(job, change)))
            .toList();
    int giving = (int) begun.stream().filter(each -> !takes(each.open().change())).count();
    CountDownLatch givenBack = new CountDownLatch(giving);
    begun.forEach(each -> begin(each.job(), each.open(), givenBack));
    return some;
  }

  private record Begun(TrainingJob job, QuotaGate.Open open) {}

  private static boolean takes(Change change) {
    return change.to().slots() > change.from().slots();
  }

  private void begin(TrainingJob job, QuotaGate.Open open, CountDownLatch givenBack) {
    AllocationStatus before = allocations.current(job);
    Change change = open.change();
    AllocationStatus decided =
        AllocationWriter.status(
            before,
            change.to(),
            open.atMost(),
            0,
            clock.instant(),
            change.reason(),
            queues.directory().of(job, before));
    // Whoever adds up what jobs have never finds more than there is.
    if (takes(change)) {
      writes.start(job, decided, givenBack, () -> store(job, before, open), signals::round);
    } else {
      writes.start(
          job,
          decided,
          AT_ONCE,
          () -> {
            try {
              store(job, before, open);
            } finally {
              givenBack.countDown();
            }
          },
          signals::round);
    }
  }

  /** Those for which there is room beside what jobs hold now, their leaving pods included. */
  private List<QuotaGate.Open> withinQuotas(List<Change> changes) {
    QueueDirectory directory = queues.directory();
    Quotas quotas = Quotas.of(directory.queues());
    if (quotas.none()) {
      return changes.stream().map(change -> new QuotaGate.Open(change, null)).toList();
    }
    Map<JobId, QuotaGate.Holding> holdings = new HashMap<>();
    for (TrainingJob job : cache.jobs()) {
      JobId id = Labels.id(job);
      AllocationStatus current = allocations.current(job);
      Map<String, Integer> byNode =
          slots.heldByNode(cache.pods(job), JobMapper.allocation(current).slotsByNode(), coming);
      byNode.keySet().removeIf(node -> cache.node(node).filter(uses::lost).isPresent());
      String queue = directory.of(job, current);
      QuotaGate.Holding given = holding(queue, current, byNode);
      QuotaGate.Holding decided = holding(queue, decided(job), byNode);
      holdings.put(id, given.slots() < decided.slots() ? decided : given);
    }
    return new QuotaGate(quotas, holdings).open(changes);
  }

  private static QuotaGate.Holding holding(
      String queue, @Nullable AllocationStatus allocation, Map<String, Integer> byNode) {
    Integer atMost = allocation == null ? null : allocation.atMost();
    return QuotaGate.Holding.of(queue, JobMapper.allocation(allocation), atMost, byNode);
  }

  /** Stores a change, unless the job ended or was given something else since it was decided. */
  private void store(TrainingJob job, @Nullable AllocationStatus before, QuotaGate.Open open) {
    Change change = open.change();
    try {
      cache
          .newest(job)
          .filter(knowledge::wantsToRun)
          .filter(now -> version(allocations.current(now)) == version(before))
          .filter(now -> allocations.write(now, change.to(), open.atMost(), change.reason()))
          .filter(now -> before == null)
          .ifPresent(this::waited);
    } catch (KubernetesClientException e) {
      // The next round sees that nothing changed and decides again.
      LOG.warn("{}: an allocation could not be stored: {}", change.job(), e.getMessage());
    }
    if (heldBack) {
      // What it gave back may be what others were held back for.
      signals.round();
    }
  }

  /** Counted once it is stored: a start that is held back is decided on again and again. */
  private void waited(TrainingJob job) {
    Instant created = Instant.parse(job.getMetadata().getCreationTimestamp());
    metrics.queues().waited(queues.directory().of(job), Duration.between(created, clock.instant()));
  }

  private static long version(@Nullable AllocationStatus allocation) {
    return allocation == null ? 0 : allocation.version();
  }

  /** What the job has, or is to have as soon as that is stored. */
  @Nullable AllocationStatus decided(TrainingJob job) {
    AllocationStatus underWay = writes.of(job);
    return underWay == null ? allocations.current(job) : underWay;
  }

  @PreDestroy
  void stop() {
    writes.stop();
  }
}
