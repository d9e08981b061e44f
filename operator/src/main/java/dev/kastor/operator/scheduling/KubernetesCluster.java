package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.SlotCount;
import dev.kastor.operator.kube.ToldLast;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.mapping.JobReadings;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeUses;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.operator.queue.QuotaGate;
import dev.kastor.operator.signal.Signals;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Node;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Pins;
import dev.kastor.scheduler.plan.Quotas;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The cluster that the scheduling loop decides on: nodes and jobs of a Kubernetes API server. */
@Singleton
public final class KubernetesCluster implements Cluster {
  /** Knowledge of the operator of a job, beyond its resource. */
  public interface Knowledge {
    /** What its replicas measured. */
    Measured measured(TrainingJob job);

    /** Whether it has trained with the allocation that it has. */
    boolean training(TrainingJob job, AllocationHistory history);

    /** Whether it ended, which its resource may not show yet. */
    boolean ended(TrainingJob job);

    /** Whether it must not be given slots if it has none. */
    boolean held(TrainingJob job, Instant now);

    /** GPU types that its pods may be put on; empty for all. */
    Optional<Set<String>> gpuTypes(TrainingJob job);

    /**
     * Whether its allocation must stay as it is for now.
     *
     * @param replicas how many it has, at least one
     * @param since when it was given them
     */
    boolean pinned(TrainingJob job, int replicas, Instant since, Instant now);
  }

  private static final Logger LOG = LoggerFactory.getLogger(KubernetesCluster.class);

  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final Knowledge knowledge;
  private final NodeUses uses;
  private final SlotCount slots;
  private final NodeMapper nodeMapper;
  private final QueueRules queues;
  private final InstantSource clock;
  private final EventRecorder events;
  private final Signals signals;
  private final Metrics metrics;
  private final JobReadings readings = new JobReadings();
  private final WritesUnderWay writes = new WritesUnderWay();
  private volatile boolean heldBack;
  private final ToldLast badPins;
  private final ToldLast refused;

  public KubernetesCluster(
      JobRecords records,
      ClusterCache cache,
      AllocationWriter allocations,
      Knowledge knowledge,
      EventRecorder events,
      QueueRules queues,
      NodeUses uses,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    badPins = new ToldLast(records);
    refused = new ToldLast(records);
    this.uses = uses;
    this.signals = signals;
    this.metrics = metrics;
    this.cache = cache;
    this.allocations = allocations;
    this.knowledge = knowledge;
    this.events = events;
    slots = new SlotCount(config.slotResource());
    nodeMapper = new NodeMapper(cache, metrics, config);
    this.queues = queues;
    this.clock = clock;
  }

  @Override
  public Snapshot observe() {
    Instant now = clock.instant();
    List<TrainingJob> wantToRun = cache.jobs().stream().filter(this::wantsToRun).toList();
    List<JobReading> wanting = readings.of(wantToRun, this::decided);
    var round = RoundNodes.of(cache.nodes(), uses::of, wanting, cache::pods);
    List<Node> nodes = nodeMapper.nodes(cache.nodes(), round, now);
    QueueDirectory directory = queues.directory();
    List<JobState> jobs = new ArrayList<>(wanting.size());
    Set<JobId> pins = new HashSet<>();
    for (JobReading job : wanting) {
      boolean passedOver = writes.passOver(job.job());
      if (job.allocation().isEmpty() && (passedOver || knowledge.held(job.job(), now))) {
        continue;
      }
      Optional<JobState> state = stateOrNone(job, passedOver, round, directory, now);
      state.ifPresent(jobs::add);
      if (state.isPresent()
          && JobMapper.pinnedHere(job.job(), job.allocation())
          && job.withinBounds()
          && round.there(job.id(), job.allocation())) {
        pins.add(job.id());
      }
    }
    Pins held = Pins.of(new Snapshot(now, nodes, jobs, directory.queues()), pins);
    held.broken().forEach(this::tellPin);
    return held.snapshot();
  }

  private void tellPin(JobId id, String problem) {
    cache
        .job(id)
        .ifPresent(job ->
            tellPin(job, "Annotation %s does not hold: %s.".formatted(Pin.ANNOTATION, problem)));
  }

  private void tellPin(TrainingJob job, String problem) {
    if (badPins.isNew(job, problem)) {
      events.warning(job, "PinIgnored", problem);
    }
  }

  /** Those of these jobs that wait for nothing but slots, as they are now; called by any thread. */
  List<JobState> newcomers(Collection<JobId> ids) {
    Instant now = clock.instant();
    QueueDirectory directory = queues.directory();
    List<JobState> jobs = new ArrayList<>();
    for (JobId id : ids) {
      cache
          .job(id)
          .filter(this::wantsToRun)
          .filter(job -> !writes.passOver(job) && !knowledge.held(job, now))
          .map(job -> JobReading.of(job, decided(job)))
          .filter(reading -> reading.allocation().isEmpty())
          .flatMap(reading -> stateOrNone(reading, false, RoundNodes.NONE, directory, now))
          .ifPresent(jobs::add);
    }
    return jobs;
  }

  /** Whether new replicas may be put on the node. */
  boolean usable(String node) {
    return cache.node(node).filter(uses::open).isPresent();
  }

  /**
   * Begins to store the changes, side by side, and does not wait: an API server that is slow to
   * answer must not keep others from being decided on.
   */
  @Override
  public void apply(List<Change> changes) {
    carryOut(changes, true);
  }

  /**
   * The same of changes that were made room for.
   *
   * @return whether quotas held back any of them, which a round has to look at again
   */
  boolean carryOut(List<Change> changes) {
    return carryOut(changes, false);
  }

  /**
   * One caller at a time: rounds and newcomers are decided by two threads, and each has to see in
   * the quotas what the other has begun.
   *
   * @param all whether a round over all decided them, whoever was held back before among them
   */
  private synchronized boolean carryOut(List<Change> changes, boolean all) {
    boolean before = heldBack && !all;
    // Whatever is stored while this looks at quotas may be what it finds missing.
    heldBack = true;
    List<QuotaGate.Open> open = withinQuotas(changes);
    boolean some = open.size() < changes.size();
    heldBack = before || some;
    open.forEach(change ->
        cache
            .job(change.change().job())
            .filter(this::wantsToRun)
            .ifPresent(job -> begin(job, change)));
    return some;
  }

  private void begin(TrainingJob job, QuotaGate.Open open) {
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
    writes.start(job, decided, () -> store(job, before, open), signals::round);
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
          slots.heldByNode(cache.pods(job), JobMapper.allocation(current).replicasByNode());
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
          .job(change.job())
          .filter(now -> now.getMetadata().getUid().equals(job.getMetadata().getUid()))
          .filter(this::wantsToRun)
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
    metrics.waited(queues.directory().of(job), Duration.between(created, clock.instant()));
  }

  private static long version(@Nullable AllocationStatus allocation) {
    return allocation == null ? 0 : allocation.version();
  }

  /** What the job has, or is to have as soon as that is stored. */
  private @Nullable AllocationStatus decided(TrainingJob job) {
    AllocationStatus underWay = writes.of(job);
    return underWay == null ? allocations.current(job) : underWay;
  }

  @PreDestroy
  void stop() {
    writes.stop();
  }

  private boolean wantsToRun(TrainingJob job) {
    return JobMapper.wantsToRun(job) && !knowledge.ended(job);
  }

  private Optional<JobState> stateOrNone(
      JobReading job, boolean passedOver, RoundNodes round, QueueDirectory directory, Instant now) {
    try {
      return state(job, passedOver, round, directory, now);
    } catch (IllegalArgumentException e) {
      LOG.debug("{}: left out of the round: {}", job.id(), e.getMessage());
      return Optional.empty();
    } catch (KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      // One job's trouble must not keep all others from being decided on.
      LOG.error("{}: left out of the round", job.id(), e);
      return Optional.empty();
    }
  }

  /**
   * The job, unless it waits for a queue that does not have it. One that runs goes on in the queue
   * that gave it what it has; when that is gone, it keeps exactly this.
   */
  private Optional<JobState> state(
      JobReading reading,
      boolean passedOver,
      RoundNodes round,
      QueueDirectory directory,
      Instant now) {
    TrainingJob job = reading.job();
    Allocation allocation = reading.allocation();
    Optional<Reason> refusal = directory.refusal(job);
    if (refusal.isPresent() && allocation.isEmpty()) {
      return Optional.empty();
    }
    String queue = directory.of(job, reading.given());
    boolean pinned =
        passedOver
            || round.staying().contains(reading.id())
            || (round.there(reading.id(), allocation)
                && (!directory.has(queue)
                    || (!allocation.isEmpty()
                        && reading.withinBounds()
                        && knowledge.pinned(
                            job, allocation.replicas(), reading.since().orElse(now), now))));
    refusal
        .filter(reason -> refused.isNew(job, reason.message()))
        .ifPresent(reason ->
            events.warning(
                job,
                reason.code(),
                reason.message() + " Until then it goes on as a job of the queue that it was in."));
    reading.asked().pinProblem().ifPresent(problem -> tellPin(job, problem));
    return Optional.of(
        JobMapper.state(
            reading,
            queue,
            directory.priority(job, queue),
            knowledge.gpuTypes(job),
            knowledge.measured(job),
            knowledge.training(job, reading.history()),
            pinned,
            now));
  }
}
