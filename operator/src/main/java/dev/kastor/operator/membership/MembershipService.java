package dev.kastor.operator.membership;

import dev.kastor.crds.TrainingJob;
import dev.kastor.crds.TrainingJobStatus;
import dev.kastor.crds.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.Metrics;
import dev.kastor.operator.OperatorConfig;
import dev.kastor.operator.Signals;
import dev.kastor.operator.cluster.AllocationWriter;
import dev.kastor.operator.cluster.ClusterCache;
import dev.kastor.operator.cluster.JobMapper;
import dev.kastor.operator.cluster.JobSpecs;
import dev.kastor.operator.cluster.Labels;
import dev.kastor.operator.cluster.StatusWriter;
import dev.kastor.operator.job.PodPlan;
import dev.kastor.operator.job.PodView;
import dev.kastor.operator.leader.Mandate;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.scheduler.Allocation;
import dev.kastor.scheduler.JobId;
import dev.kastor.scheduler.JobSpec;
import dev.kastor.scheduler.PlacementShape;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers polls and publishes generations.
 *
 * <p>A generation is written to {@code status.generation} before any replica hears of it, so it
 * never goes back, whatever happens to the operator. Who is in it is known to the replicas and is
 * learnt from them again after a restart. Thread-safe; one lock for each job.
 */
@Singleton
public final class MembershipService {
  /** What others may know of a job's members. */
  public record View(Set<String> members, Set<String> dismissed, boolean recovering) {}

  /**
   * Those who train together.
   *
   * @param pods their names
   * @param said what they said last, by pod
   * @param since when they were put together; {@link Instant#MIN} by an earlier operator
   */
  public record Members(
      long generation, Set<String> pods, Map<String, Replica> said, Instant since) {}

  private static final Logger LOG = LoggerFactory.getLogger(MembershipService.class);
  private static final int APART_MILLIS = 2000;

  private final Map<String, JobMembership> jobs = new ConcurrentHashMap<>();
  private final ClusterCache cache;
  private final AllocationWriter allocations;
  private final StatusWriter writer;
  private final TelemetryStore telemetry;
  private final Signals signals;
  private final Metrics metrics;
  private final OperatorConfig.Agent config;
  private final InstantSource clock;
  private final Mandate mandate;

  public MembershipService(
      ClusterCache cache,
      AllocationWriter allocations,
      StatusWriter writer,
      TelemetryStore telemetry,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      Mandate mandate,
      InstantSource clock) {
    this.cache = cache;
    this.allocations = allocations;
    this.writer = writer;
    this.telemetry = telemetry;
    this.signals = signals;
    this.metrics = metrics;
    this.config = config.agent();
    this.mandate = mandate;
    this.clock = clock;
  }

  /**
   * Waits until there is something new for the replica, but no longer than {@code wait}.
   *
   * <p>Blocks its thread, which should be a virtual one. A newer poll of the same replica ends this
   * one.
   */
  public Membership poll(TrainingJob job, ReplicaState state, Duration wait)
      throws InterruptedException {
    JobMembership membership = of(job);
    long deadline = System.nanoTime() + wait.toNanos();
    membership.lock.lockInterruptibly();
    try {
      long number = heard(membership, state);
      evaluate(job, membership);
      while (true) {
        Optional<Membership> answer = answer(job, membership, state);
        if (answer.isPresent()) {
          return answer.get();
        }
        long left = deadline - System.nanoTime();
        Replica newest = membership.replicas.get(state.pod());
        if (left <= 0 || newest == null || newest.poll() != number) {
          return PollAnswer.unchanged(membership.generation);
        }
        // Spurious or early, the next turn of the loop finds out.
        var _ = membership.changed.awaitNanos(left);
      }
    } finally {
      membership.lock.unlock();
    }
  }

  /**
   * The newest generation that any replica of the job can have heard of.
   *
   * <p>Another operator may have published one since this one first saw the job.
   */
  public long newest(TrainingJob job) {
    JobMembership membership = of(job);
    Long stored =
        cache
            .job(Labels.id(job))
            .filter(now -> sameUid(now, job))
            .map(TrainingJob::getStatus)
            .map(TrainingJobStatus::generation)
            .orElse(null);
    membership.lock.lock();
    try {
      membership.generation = Math.max(membership.generation, stored == null ? 0 : stored);
      return membership.generation;
    } finally {
      membership.lock.unlock();
    }
  }

  /** Publishes the next generation if it is time for one. */
  public void evaluate(TrainingJob job) {
    JobMembership membership = of(job);
    membership.lock.lock();
    try {
      evaluate(job, membership);
    } finally {
      membership.lock.unlock();
    }
  }

  /**
   * Whether time alone may change something for the job's members by now; takes no lock and looks
   * at no pod, so that all jobs can be asked often.
   */
  public boolean due(TrainingJob job) {
    JobMembership known = jobs.get(job.getMetadata().getUid());
    if (known == null) {
      // Its replicas, if it has any, are known to a former operator only.
      TrainingJobStatus status = job.getStatus();
      Long generation = status == null ? null : status.generation();
      return generation != null && generation > 0;
    }
    return !clock.instant().isBefore(known.nextLook);
  }

  /** What is known of a job's members. */
  public View view(TrainingJob job) {
    JobMembership membership = of(job);
    membership.lock.lock();
    try {
      return new View(
          membership.members(), Set.copyOf(membership.dismissed), membership.recoverUntil != null);
    } finally {
      membership.lock.unlock();
    }
  }

  /** What the members of the newest generation said last, and since when it has been in force. */
  public Members members(TrainingJob job) {
    JobMembership membership = of(job);
    membership.lock.lock();
    try {
      Map<String, Replica> said = new HashMap<>(membership.replicas);
      said.keySet().retainAll(membership.members());
      return new Members(
          membership.generation, membership.members(), said, membership.lastBatchChange);
    } finally {
      membership.lock.unlock();
    }
  }

  /** When the replica last polled; empty if it never did. */
  public Optional<Instant> lastSeen(TrainingJob job, String pod) {
    JobMembership membership = of(job);
    membership.lock.lock();
    try {
      return Optional.ofNullable(membership.replicas.get(pod)).map(Replica::seen);
    } finally {
      membership.lock.unlock();
    }
  }

  /**
   * When the replica in this pod last gave a sign of life; empty if it never polled. Never waits.
   *
   * <p>Members train step by step together, so a step of one is a sign of all.
   */
  public Optional<Instant> lastSign(Pod pod) {
    String name = pod.getMetadata().getName();
    for (OwnerReference owner : pod.getMetadata().getOwnerReferences()) {
      JobMembership membership = jobs.get(owner.getUid());
      Replica replica = membership == null ? null : membership.replicas.get(name);
      if (membership != null && replica != null) {
        Instant step =
            membership.members().contains(name)
                ? telemetry.advanced(owner.getUid())
                : Instant.EPOCH;
        return Optional.of(step.isAfter(replica.seen()) ? step : replica.seen());
      }
    }
    return Optional.empty();
  }

  /** Forgets a job that is gone and ends its polls. */
  public void forget(String uid) {
    JobMembership membership = jobs.remove(uid);
    if (membership != null) {
      membership.lock.lock();
      try {
        membership.replicas.clear();
        membership.changed.signalAll();
      } finally {
        membership.lock.unlock();
      }
    }
  }

  private JobMembership of(TrainingJob job) {
    return jobs.computeIfAbsent(
        job.getMetadata().getUid(),
        uid -> {
          TrainingJobStatus status = job.getStatus();
          Long generation = status == null ? null : status.generation();
          long newest = generation == null ? 0 : generation;
          return new JobMembership(
              newest, newest > 0 ? mandate.since().plus(config.recovery()) : null);
        });
  }

  private long heard(JobMembership membership, ReplicaState state) {
    Replica before = membership.replicas.get(state.pod());
    Replica after =
        before == null
            ? Replica.first(state, clock.instant())
            : before.next(state, clock.instant());
    membership.replicas.put(state.pod(), after);
    membership.generation = Math.max(membership.generation, state.generation());
    membership.changed.signalAll();
    return after.poll();
  }

  private Optional<Membership> answer(
      TrainingJob job, JobMembership membership, ReplicaState state) {
    if (membership.recoverUntil != null) {
      return Optional.empty();
    }
    List<PodView> pods = pods(job);
    boolean known = pods.stream().anyMatch(pod -> pod.name().equals(state.pod()));
    boolean wanted =
        !known
            || plan(job, membership, pods).wanted().stream()
                .anyMatch(pod -> pod.name().equals(state.pod()));
    Optional<Membership> answer =
        PollAnswer.now(
            state,
            Optional.ofNullable(membership.current),
            membership.generation,
            wanted,
            ended(job));
    if (answer.isPresent() && answer.get().action() == Action.LEAVE) {
      membership.dismissed.add(state.pod());
    }
    return answer;
  }

  private void evaluate(TrainingJob stale, JobMembership membership) {
    TrainingJob job = cache.job(Labels.id(stale)).filter(now -> sameUid(now, stale)).orElse(stale);
    List<PodView> pods = pods(job);
    Set<String> names = pods.stream().map(PodView::name).collect(Collectors.toSet());
    membership.dismissed.retainAll(names);
    recover(job, membership, pods);
    if (membership.recoverUntil != null || ended(job)) {
      membership.nextLook = Instant.MIN;
      return;
    }
    Situation situation = situation(job, membership, pods);
    Optional<Membership> next = GenerationRules.next(situation);
    membership.nextLook = next.isPresent() ? Instant.MIN : nextLook(job, situation);
    next.ifPresent(found -> publish(job, membership, found));
  }

  /** Polls, pods and allocations lead to looks of their own; this is about what nobody signals. */
  private Instant nextLook(TrainingJob job, Situation situation) {
    if (situation.rests()) {
      return Instant.MAX;
    }
    if (!situation.settled()) {
      return Instant.MIN;
    }
    // A better batch may be known by then. Not all jobs at the same moment.
    Duration apart =
        Duration.ofMillis(Math.floorMod(job.getMetadata().getUid().hashCode(), APART_MILLIS));
    return situation.now().plus(config.batchInterval()).plus(apart);
  }

  private void recover(TrainingJob job, JobMembership membership, List<PodView> pods) {
    if (membership.recoverUntil == null || !cache.synced()) {
      return;
    }
    List<PodView> live = pods.stream().filter(PodView::live).toList();
    if (!Recovery.allHeard(live, membership.replicas)
        && clock.instant().isBefore(membership.recoverUntil)) {
      return;
    }
    membership.recoverUntil = null;
    membership.current =
        Recovery.membership(live, membership.replicas, batchInForce(job)).orElse(null);
    if (membership.current != null) {
      LOG.info(
          "{}: found generation {} in training: {}",
          Labels.id(job),
          membership.current.generation(),
          membership.members());
    }
    membership.changed.signalAll();
    signals.job(Labels.id(job));
  }

  private Situation situation(TrainingJob job, JobMembership membership, List<PodView> pods) {
    Instant now = clock.instant();
    JobSpec spec = JobSpecs.of(job);
    Allocation target = target(job);
    PodPlan plan = plan(job, membership, pods);
    Set<String> live =
        pods.stream()
            .filter(PodView::live)
            .map(PodView::name)
            .collect(Collectors.toUnmodifiableSet());
    Set<String> leaving =
        pods.stream()
            .filter(pod -> pod.deleting() && !pod.ended())
            .map(PodView::name)
            .collect(Collectors.toUnmodifiableSet());
    boolean migrating =
        !target.isEmpty()
            && membership.members().stream().anyMatch(live::contains)
            && plan.wanted().stream().noneMatch(pod -> membership.members().contains(pod.name()));
    if (!migrating) {
      membership.migrationSince = Instant.MAX;
    } else if (membership.migrationSince.equals(Instant.MAX)) {
      membership.migrationSince = now;
    }
    Map<String, Replica> heard = new HashMap<>(membership.replicas);
    heard.keySet().retainAll(live);
    return new Situation(
        target.replicas(),
        spec.elasticity(),
        plan.wanted(),
        live,
        leaving,
        heard,
        membership.generation,
        Optional.ofNullable(membership.current),
        members ->
            BetterBatch.initial(
                spec, telemetry.model(job), shape(members), globalBatch(membership.current)),
        betterBatch(job, spec, membership, now),
        membership.migrationSince,
        new Situation.Patience(config.brokenGrace(), config.migrationPatience()),
        now);
  }

  private Optional<BatchPlan> betterBatch(
      TrainingJob job, JobSpec spec, JobMembership membership, Instant now) {
    Membership current = membership.current;
    if (current == null
        || current.action() != Action.RUN
        || now.isBefore(membership.lastBatchChange.plus(config.batchInterval()))) {
      return Optional.empty();
    }
    long nodes = current.members().stream().map(Member::node).distinct().count();
    var shape = new PlacementShape((int) nodes, current.members().size(), "");
    return BetterBatch.improvement(spec, telemetry.model(job), shape, current.batchPlan());
  }

  private void publish(TrainingJob job, JobMembership membership, Membership next) {
    JobId id = Labels.id(job);
    Map<String, @Nullable Object> fields = new HashMap<>();
    fields.put("generation", next.generation());
    TrainingJobStatus status = job.getStatus();
    boolean fromCheckpoint =
        next.action() == Action.RUN
            && status != null
            && status.startTime() != null
            && next.members().stream()
                .map(member -> membership.replicas.get(member.pod()))
                .noneMatch(replica -> replica != null && replica.trained());
    if (fromCheckpoint) {
      Integer before = status == null ? null : status.restarts();
      fields.put("restarts", (before == null ? 0 : before) + 1);
    }
    try {
      if (!writer.patch(job, fields)) {
        return;
      }
    } catch (KubernetesClientException e) {
      // Nobody heard of this generation; the next look at the job tries again.
      LOG.warn("{}: generation {} could not be stored: {}", id, next.generation(), e.getMessage());
      return;
    }
    Set<String> before = membership.members();
    membership.generation = next.generation();
    membership.current = next;
    membership.lastBatchChange = clock.instant();
    Set<String> after = membership.members();
    before.stream().filter(pod -> !after.contains(pod)).forEach(membership.dismissed::add);
    LOG.info(
        "{}: generation {} {} with {} members, batch {} x {}: {}",
        id,
        next.generation(),
        next.action(),
        next.members().size(),
        next.batchPlan().atomicBatchSize(),
        next.batchPlan().accumulationSteps() + 1,
        next.members().stream().map(Member::pod).toList());
    metrics.published(id.namespace(), id.name(), next.action());
    membership.changed.signalAll();
    signals.job(id);
  }

  private boolean ended(TrainingJob job) {
    return JobMapper.finished(job) || telemetry.completed(job).isPresent();
  }

  private Allocation target(TrainingJob job) {
    return JobMapper.wantsToRun(job)
        ? JobMapper.allocation(allocations.current(job))
        : Allocation.NONE;
  }

  private PodPlan plan(TrainingJob job, JobMembership membership, List<PodView> pods) {
    return PodPlan.of(target(job), pods, membership.members(), membership.dismissed);
  }

  private List<PodView> pods(TrainingJob job) {
    String uid = job.getMetadata().getUid();
    return PodView.of(
        cache.pods(Labels.id(job)).stream().filter(pod -> Labels.ownedBy(pod, uid)).toList());
  }

  private BatchPlan batchInForce(TrainingJob job) {
    return telemetry
        .batch(job)
        .orElseGet(() -> {
          TrainingJobStatus status = job.getStatus();
          TrainingStatus training = status == null ? null : status.training();
          return training == null || training.atomicBatch() < 1
              ? new BatchPlan(1, 0)
              : new BatchPlan(training.atomicBatch(), training.accumulationSteps());
        });
  }

  private static int globalBatch(@Nullable Membership current) {
    return current == null ? 0 : current.batchPlan().globalBatchSize(current.members().size());
  }

  private static PlacementShape shape(List<PodView> members) {
    long nodes = members.stream().map(PodView::node).distinct().count();
    return new PlacementShape((int) nodes, members.size(), "");
  }

  private static boolean sameUid(TrainingJob one, TrainingJob other) {
    return one.getMetadata().getUid().equals(other.getMetadata().getUid());
  }
}
