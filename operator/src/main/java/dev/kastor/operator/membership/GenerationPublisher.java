package dev.kastor.operator.membership;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.crds.trainingjob.TrainingJobStatus.TrainingStatus;
import dev.kastor.operator.allocation.AllocationWriter;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.Labels;
import dev.kastor.operator.kube.PodName;
import dev.kastor.operator.kube.StatusWriter;
import dev.kastor.operator.kube.StoredTime;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.nodes.NodeTypes;
import dev.kastor.operator.pods.PodPlan;
import dev.kastor.operator.pods.PodView;
import dev.kastor.operator.pods.ServerPod;
import dev.kastor.operator.pods.ServerRoster;
import dev.kastor.operator.signal.Signals;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.scheduler.goodput.PlacementShape;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publication of a job's next generation, when it is time for one.
 *
 * <p>A generation is written to {@code status.generation} before any replica hears of it, so it
 * never goes back, whatever happens to the operator. Callers hold the job's lock.
 */
@Singleton
final class GenerationPublisher {
  private static final Logger LOG = LoggerFactory.getLogger(GenerationPublisher.class);
  private static final int APART_MILLIS = 2000;

  private final ClusterCache cache;
  private final NodeTypes types;
  private final MoveRoom room;
  private final AllocationWriter allocations;
  private final StatusWriter writer;
  private final TelemetryStore telemetry;
  private final Signals signals;
  private final Metrics metrics;
  private final OperatorConfig.Agent config;
  private final InstantSource clock;

  GenerationPublisher(
      ClusterCache cache,
      NodeTypes types,
      MoveRoom room,
      AllocationWriter allocations,
      StatusWriter writer,
      TelemetryStore telemetry,
      Signals signals,
      Metrics metrics,
      OperatorConfig config,
      InstantSource clock) {
    this.cache = cache;
    this.types = types;
    this.room = room;
    this.allocations = allocations;
    this.writer = writer;
    this.telemetry = telemetry;
    this.signals = signals;
    this.metrics = metrics;
    this.config = config.agent();
    this.clock = clock;
  }

  /** Whether the replica in this pod is to stay; one whose pod is not known yet is. */
  boolean wants(TrainingJob job, JobMembership membership, String replica) {
    if (PodName.serverIndex(replica).isPresent()) {
      List<ServerPod> servers = servers(job);
      return servers.stream().noneMatch(server -> server.name().equals(replica))
          || roster(job, membership, servers).kept().stream()
              .anyMatch(server -> server.name().equals(replica));
    }
    List<PodView> pods = pods(job);
    boolean known = pods.stream().anyMatch(pod -> pod.name().equals(replica));
    return !known
        || plan(job, membership, pods).wanted().stream()
            .anyMatch(pod -> pod.name().equals(replica));
  }

  /** Publishes the next generation if it is time for one. */
  void evaluate(TrainingJob stale, JobMembership membership) {
    TrainingJob job = cache.newest(stale).orElse(stale);
    List<PodView> pods = pods(job);
    List<ServerPod> servers = servers(job);
    Set<String> names = pods.stream().map(PodView::name).collect(Collectors.toSet());
    servers.forEach(server -> names.add(server.name()));
    membership.dismissed.retainAll(names);
    recover(job, membership, pods, servers);
    if (membership.recoverUntil != null || ended(job)) {
      membership.nextLook = Instant.MIN;
      return;
    }
    Situation situation = situation(job, membership, pods, servers);
    Optional<Membership> next =
        GenerationRules.next(situation).map(found -> found.onTypes(types::of));
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

  /** Takes note of what a replica says that fits its device. */
  void fits(TrainingJob job, ReplicaState state) {
    if (state.mostExamples() > 0) {
      pods(job).stream()
          .filter(pod -> pod.name().equals(state.pod()))
          .findFirst()
          .ifPresent(pod -> telemetry.fits(job, types.of(pod.node()), state.mostExamples()));
    }
  }

  private void recover(
      TrainingJob job, JobMembership membership, List<PodView> pods, List<ServerPod> servers) {
    if (membership.recoverUntil == null || !cache.synced()) {
      return;
    }
    List<PodView> live = pods.stream().filter(PodView::live).toList();
    List<PodView> speaking =
        Stream.concat(live.stream(), ServerPod.views(servers).stream().filter(PodView::live))
            .toList();
    if (!Recovery.allHeard(speaking, membership.replicas)
        && clock.instant().isBefore(membership.recoverUntil)) {
      return;
    }
    membership.recoverUntil = null;
    Optional<Membership> found =
        Recovery.membership(
                live,
                membership.replicas,
                batchInForce(job),
                listening(roster(job, membership, servers), membership))
            .map(members -> members.onTypes(types::of));
    membership.become(found.orElse(null));
    found.ifPresent(current -> telemetry.published(job, current, Optional.empty(), allocated(job)));
    found.ifPresent(current ->
        LOG.info(
            "{}: found generation {} in training: {}",
            Labels.id(job),
            current.generation(),
            membership.members()));
    membership.changed.signalAll();
    signals.job(Labels.id(job));
  }

  private Situation situation(
      TrainingJob job, JobMembership membership, List<PodView> pods, List<ServerPod> servers) {
    Instant now = clock.instant();
    JobSpec spec = membership.spec(job).fitting(telemetry.mostExamples(job));
    AllocationStatus allocation = allocations.current(job);
    Integer atMost = allocation == null ? null : allocation.atMost();
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
    } else if (membership.migrationSince.equals(Instant.MAX)
        || !room.awaited(Labels.id(job).namespace(), target, plan, membership.migrationSince)) {
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
        new Situation.Servers(
            target.isEmpty() ? 0 : JobServers.count(job),
            listening(roster(job, membership, servers), membership)),
        membership.generation,
        Optional.ofNullable(membership.current()),
        members ->
            BetterBatch.initial(
                spec, telemetry.model(job), shape(membership, members), globalBatch(membership)),
        betterBatch(job, spec, membership, now),
        atMost != null && !plan.missing().isEmpty() && room.holding(pods) >= atMost,
        membership.migrationSince,
        new Situation.Patience(config.brokenGrace(), config.migrationPatience()),
        now);
  }

  private Optional<BatchPlan> betterBatch(
      TrainingJob job, JobSpec spec, JobMembership membership, Instant now) {
    Membership current = membership.current();
    if (current == null || current.action() != Action.RUN) {
      return Optional.empty();
    }
    long nodes = current.members().stream().map(Member::node).distinct().count();
    var shape =
        new PlacementShape(
            Math.min((int) nodes, membership.shares(current.members().size())),
            membership.shares(current.members().size()),
            Member.gpuType(current.members()));
    int most = spec.batchLimits(shape.gpuType()).maxAtomicBatch();
    if (current.batchPlan().atomicBatchSize() > most) {
      return Optional.of(
          BetterBatch.initial(spec, telemetry.model(job), shape, globalBatch(membership)));
    }
    if (now.isBefore(membership.lastBatchChange.plus(config.batchInterval()))) {
      return Optional.empty();
    }
    return BetterBatch.improvement(spec, telemetry.model(job), shape, current.batchPlan());
  }

  private void publish(TrainingJob job, JobMembership membership, Membership next) {
    JobId id = Labels.id(job);
    Map<String, @Nullable Object> fields = new HashMap<>();
    fields.put("generation", next.generation());
    if (next.action() == Action.RUN) {
      List<String> clients = ClientNotices.of(next, membership.replicas);
      fields.put("clients", clients.isEmpty() ? null : clients);
    }
    TrainingJobStatus status = job.getStatus();
    boolean fromCheckpoint =
        next.action() == Action.RUN
            && status != null
            && status.startTime() != null
            // Who has never reported a step has no checkpoint either: its start goes on.
            && (status.training() != null || telemetry.last(job).isPresent())
            && !stateIsThere(next, membership);
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
    Set<String> before = told(membership);
    membership.generation = next.generation();
    membership.become(next);
    membership.lastBatchChange = clock.instant();
    for (Member member : next.members()) {
      membership.replicas.computeIfPresent(
          member.pod(), (pod, replica) -> replica.told(membership.lastBatchChange));
    }
    telemetry.published(job, next, Optional.of(membership.lastBatchChange), allocated(job));
    Set<String> after = told(membership);
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
    metrics.jobs().published(id.namespace(), id.name(), next.action());
    membership.changed.signalAll();
    signals.job(id);
  }

  /**
   * Whether the state that the members are to train on is in a process: some member has it, or all
   * parameter servers have their shards.
   */
  private static boolean stateIsThere(Membership next, JobMembership membership) {
    Predicate<String> trained =
        pod -> {
          Replica replica = membership.replicas.get(pod);
          return replica != null && replica.trained();
        };
    return next.serversOrNone().isEmpty()
        ? next.members().stream().map(Member::pod).anyMatch(trained)
        : next.serversOrNone().stream().map(ParameterServer::pod).allMatch(trained);
  }

  /** All whom the newest generation has a word for. */
  private static Set<String> told(JobMembership membership) {
    Set<String> told = new HashSet<>(membership.members());
    told.addAll(membership.serverPods());
    return told;
  }

  boolean ended(TrainingJob job) {
    return JobMapper.finished(job) || telemetry.completed(job).isPresent();
  }

  /** When the job was given the allocation that it has. */
  private Optional<Instant> allocated(TrainingJob job) {
    AllocationStatus allocation = allocations.current(job);
    return StoredTime.of(allocation == null ? null : allocation.since());
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
    return PodView.of(cache.pods(job));
  }

  private List<ServerPod> servers(TrainingJob job) {
    return JobServers.count(job) == 0 ? List.of() : ServerPod.of(cache.serverPods(job));
  }

  private ServerRoster roster(TrainingJob job, JobMembership membership, List<ServerPod> servers) {
    int wanted = target(job).isEmpty() ? 0 : JobServers.count(job);
    return ServerRoster.of(wanted, servers, membership.dismissed, room::lost);
  }

  /** Servers that workers can reach. */
  private static List<ParameterServer> listening(ServerRoster roster, JobMembership membership) {
    List<ParameterServer> there = new ArrayList<>();
    for (ServerPod server : roster.kept()) {
      Replica said = membership.replicas.get(server.name());
      if (said != null && said.canJoin()) {
        there.add(
            new ParameterServer(
                server.index(), server.name(), server.view().node(), said.state().address()));
      }
    }
    return there;
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

  private static int globalBatch(JobMembership membership) {
    Membership current = membership.current();
    return current == null
        ? 0
        : current.batchPlan().globalBatchSize(membership.shares(current.members().size()));
  }

  private PlacementShape shape(JobMembership membership, List<PodView> members) {
    List<String> nodes = members.stream().map(PodView::node).distinct().toList();
    int shares = membership.shares(members.size());
    return new PlacementShape(Math.min(nodes.size(), shares), shares, types.of(nodes));
  }
}
