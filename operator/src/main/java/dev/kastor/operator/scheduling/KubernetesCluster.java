package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.EventRecorder;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.NamespaceQuotas;
import dev.kastor.operator.kube.ToldLast;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.mapping.JobReadings;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.scheduler.goodput.Measured;
import dev.kastor.scheduler.loop.Cluster;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import dev.kastor.scheduler.plan.Change;
import dev.kastor.scheduler.plan.Pins;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
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

    /** Whether it is to have slots once there are some. */
    default boolean wantsToRun(TrainingJob job) {
      return JobMapper.wantsToRun(job) && !ended(job);
    }

    /** Whether it must not be given slots if it has none. */
    boolean held(TrainingJob job, Instant now);

    /**
     * Most replicas for which the API server takes pods now, those that it has included.
     *
     * @param replicas how many it has
     */
    default int most(TrainingJob job, int replicas) {
      return Integer.MAX_VALUE;
    }

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
  private final AllocationChanges changes;
  private final Knowledge knowledge;
  private final SeenNodes seenNodes;
  private final QueueRules queues;
  private final NamespaceQuotas quotas;
  private final InstantSource clock;
  private final EventRecorder events;
  private final JobReadings readings = new JobReadings();
  private final ToldLast badPins;
  private final ToldLast refused;

  public KubernetesCluster(
      JobRecords records,
      ClusterCache cache,
      AllocationChanges changes,
      Knowledge knowledge,
      SeenNodes seenNodes,
      EventRecorder events,
      QueueRules queues,
      NamespaceQuotas quotas,
      InstantSource clock) {
    badPins = new ToldLast(records);
    refused = new ToldLast(records);
    this.cache = cache;
    this.changes = changes;
    this.knowledge = knowledge;
    this.seenNodes = seenNodes;
    this.events = events;
    this.queues = queues;
    this.quotas = quotas;
    this.clock = clock;
  }

  /**
   * The cluster as rounds see it.
   *
   * @param held the jobs that want to run, and which pins of their owners hold
   * @param readings what those that want to run ask for, the ones that may not start included
   * @param staying jobs that stay where they are, with the size that they have, to their end
   */
  record Look(Pins held, List<JobReading> readings, Set<JobId> staying) {
    Snapshot snapshot() {
      return held.snapshot();
    }
  }

  @Override
  public Snapshot observe() {
    Look look = look(readings);
    look.held().broken().forEach(this::tellPin);
    return look.snapshot();
  }

  /** The cluster as a round that began now would see it; called by any thread. */
  Look look() {
    return look(new JobReadings());
  }

  private Look look(JobReadings reader) {
    Instant now = clock.instant();
    List<TrainingJob> wantToRun = cache.jobs().stream().filter(knowledge::wantsToRun).toList();
    List<JobReading> wanting = reader.of(wantToRun, changes::decided);
    SeenNodes.Look seen = seenNodes.look(wanting, now);
    RoundNodes round = seen.round();
    QueueDirectory directory = queues.directory();
    NamespaceRooms rooms = rooms();
    Map<JobId, Map<String, String>> closedTo = new HashMap<>();
    List<JobState> jobs = new ArrayList<>(wanting.size());
    Set<JobId> pins = new HashSet<>();
    for (JobReading job : wanting) {
      boolean passedOver = changes.passOver(job.job());
      if (job.allocation().isEmpty() && (passedOver || knowledge.held(job.job(), now))) {
        continue;
      }
      Optional<JobState> state = stateOrNone(job, passedOver, round, directory, rooms, now);
      state.ifPresent(jobs::add);
      Map<String, String> nodesClosed = state.isEmpty() ? Map.of() : seen.closed(job.job());
      if (!nodesClosed.isEmpty()) {
        closedTo.put(job.id(), nodesClosed);
      }
      if (state.isPresent()
          && JobMapper.pinnedHere(job.job(), job.allocation())
          && job.withinBounds()
          && round.there(job.id(), job.allocation())) {
        pins.add(job.id());
      }
    }
    Pins held = Pins.of(new Snapshot(now, seen.nodes(), jobs, directory.queues(), closedTo), pins);
    Set<JobId> staying = new HashSet<>(round.staying());
    pins.stream().filter(id -> !held.broken().containsKey(id)).forEach(staying::add);
    return new Look(held, wanting, staying);
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
    NamespaceRooms rooms = rooms();
    List<JobState> jobs = new ArrayList<>();
    for (JobId id : ids) {
      cache
          .job(id)
          .filter(knowledge::wantsToRun)
          .filter(job -> !changes.passOver(job) && !knowledge.held(job, now))
          .map(job -> JobReading.of(job, changes.decided(job)))
          .filter(reading -> reading.allocation().isEmpty())
          .flatMap(reading -> stateOrNone(reading, false, RoundNodes.NONE, directory, rooms, now))
          .ifPresent(jobs::add);
    }
    return jobs;
  }

  /** Whether new replicas of the job may be put on the node. */
  boolean usable(JobId id, String node) {
    return cache.job(id).filter(job -> seenNodes.usable(job, node)).isPresent();
  }

  @Override
  public void apply(List<Change> decided) {
    // A quota of a namespace is shared: what goes beyond it would be refused pod by pod.
    NamespaceRooms rooms = rooms();
    List<Change> open =
        decided.stream()
            .filter(change ->
                cache
                    .job(change.job())
                    .filter(
                        job -> !rooms.take(job, change.to().replicas() - change.from().replicas()))
                    .isEmpty())
            .toList();
    var _ = changes.carryOut(open, true);
  }

  private NamespaceRooms rooms() {
    return NamespaceRooms.of(
        quotas, cache.jobs(), job -> JobMapper.allocation(changes.decided(job)), cache::pods);
  }

  private Optional<JobState> stateOrNone(
      JobReading job,
      boolean passedOver,
      RoundNodes round,
      QueueDirectory directory,
      NamespaceRooms rooms,
      Instant now) {
    try {
      return state(job, passedOver, round, directory, rooms, now);
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
      NamespaceRooms rooms,
      Instant now) {
    TrainingJob job = reading.job();
    Allocation allocation = reading.allocation();
    Optional<Reason> refusal = directory.refusal(job);
    int most = Math.min(rooms.most(job, allocation), knowledge.most(job, allocation.replicas()));
    if (allocation.isEmpty() && (refusal.isPresent() || most < reading.least())) {
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
            most,
            knowledge.gpuTypes(job),
            knowledge.measured(job),
            knowledge.training(job, reading.history()),
            pinned,
            now));
  }
}
