package dev.kastor.operator.membership;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.kube.ClusterCache;
import dev.kastor.operator.kube.JobRecords;
import dev.kastor.operator.kube.JobServers;
import dev.kastor.operator.kube.PodName;
import dev.kastor.operator.kube.Provenance;
import dev.kastor.operator.signal.Mandate;
import dev.kastor.operator.start.PodTimes;
import dev.kastor.operator.start.ReplicaStarts;
import dev.kastor.operator.start.StartMarks;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.Membership.Action;
import dev.kastor.protocol.ReplicaState;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Membership of jobs: answers to the polls of replicas, and what is known of them.
 *
 * <p>Who is in a generation is known to the replicas and is learnt from them again after a restart.
 * Thread-safe; one lock for each job.
 */
@Singleton
public final class MembershipService {
  /** What others may know of a job's members. */
  public record View(Set<String> members, Set<String> dismissed, boolean recovering) {}

  /**
   * Where a job stands.
   *
   * @param members how many train together
   * @param recovering whether an operator that has begun anew still waits to hear from them
   */
  public record Standing(int members, boolean recovering) {}

  /**
   * Those who train together.
   *
   * @param pods their names
   * @param said what they said last, by pod
   * @param servers what the parameter servers that they train with said last, by pod
   * @param since when they were put together; {@link Instant#MIN} by an earlier operator
   */
  public record Members(
      long generation,
      Set<String> pods,
      Map<String, Replica> said,
      Map<String, Replica> servers,
      Instant since) {}

  private static final Duration LONGEST_END = Duration.ofSeconds(1);
  private static final long END_MILLIS = 10;

  private final Map<String, JobMembership> jobs;
  private final ClusterCache cache;
  private final TelemetryStore telemetry;
  private final OperatorConfig.Agent config;
  private final InstantSource clock;
  private final Mandate mandate;
  private final GenerationPublisher publisher;
  private final ClientNotices notices;
  private final ReplicaStarts starts;
  private final AtomicInteger held = new AtomicInteger();
  private volatile boolean ending;

  MembershipService(
      JobRecords records,
      ClusterCache cache,
      TelemetryStore telemetry,
      GenerationPublisher publisher,
      ClientNotices notices,
      ReplicaStarts starts,
      OperatorConfig config,
      Mandate mandate,
      InstantSource clock) {
    jobs = records.part(JobMembership::close);
    this.cache = cache;
    this.telemetry = telemetry;
    this.publisher = publisher;
    this.notices = notices;
    this.starts = starts;
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
    held.incrementAndGet();
    try {
      Replica before = membership.replicas.get(state.pod());
      long number = heard(job, membership, state);
      if (before == null || before.state().mostExamples() != state.mostExamples()) {
        publisher.fits(job, state);
      }
      // Most polls only say that all is as it was, and ten thousand replicas say so all the time.
      if (before == null || !before.standsLike(state) || due(membership)) {
        evaluate(job, membership);
      }
      while (true) {
        Optional<Membership> answer = answer(job, membership, state);
        if (answer.isPresent()) {
          return answer.get();
        }
        long left = deadline - System.nanoTime();
        Replica newest = membership.replicas.get(state.pod());
        if (left <= 0 || ending || newest == null || newest.poll() != number) {
          return PollAnswer.unchanged(membership.generation);
        }
        // Spurious or early, the next turn of the loop finds out.
        var _ = membership.changed.awaitNanos(left);
      }
    } finally {
      held.decrementAndGet();
      membership.lock.unlock();
    }
  }

  /** Answers all polls while there is somebody to answer them; none waits from now on. */
  public void end() throws InterruptedException {
    ending = true;
    for (JobMembership membership : jobs.values()) {
      membership.lock.lock();
      try {
        membership.changed.signalAll();
      } finally {
        membership.lock.unlock();
      }
    }
    long until = System.nanoTime() + LONGEST_END.toNanos();
    while (held.get() > 0 && System.nanoTime() < until) {
      Thread.sleep(END_MILLIS);
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
            .newest(job)
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
    return due(known);
  }

  private void evaluate(TrainingJob job, JobMembership membership) {
    long before = membership.generation;
    publisher.evaluate(job, membership);
    Membership current = membership.current();
    if (current != null && membership.generation > before) {
      notices.tell(job, current, membership.replicas);
    }
  }

  private boolean due(JobMembership membership) {
    return !clock.instant().isBefore(membership.nextLook);
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

  /** Where a job stands; takes no lock, so that all jobs can be asked often. */
  public Standing standing(TrainingJob job) {
    JobMembership membership = of(job);
    return new Standing(membership.size(), membership.recoverUntil != null);
  }

  /** What the members of the newest generation said last, and since when it has been in force. */
  public Members members(TrainingJob job) {
    JobMembership membership = of(job);
    membership.lock.lock();
    try {
      Set<String> members = membership.members();
      return new Members(
          membership.generation,
          members,
          said(membership, members),
          said(membership, membership.serverPods()),
          membership.lastBatchChange);
    } finally {
      membership.lock.unlock();
    }
  }

  private static Map<String, Replica> said(JobMembership membership, Set<String> pods) {
    Map<String, Replica> said = HashMap.newHashMap(pods.size());
    for (String pod : pods) {
      Replica replica = membership.replicas.get(pod);
      if (replica != null) {
        said.put(pod, replica);
      }
    }
    return said;
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
   * When the replica in this pod of ours last gave a sign of life; empty if it never polled. Never
   * waits.
   *
   * <p>Members train step by step together, so a step of one is a sign of all; not so where a step
   * does not need all of them.
   */
  public Optional<Instant> lastSign(Pod pod) {
    String name = pod.getMetadata().getName();
    String uid = Provenance.claim(pod).map(Provenance.Claim::uid).orElse("");
    JobMembership membership = jobs.get(uid);
    Replica replica = membership == null ? null : membership.replicas.get(name);
    if (membership == null || replica == null) {
      return Optional.empty();
    }
    boolean inStep =
        membership.members().contains(name)
            && membership.servers.filter(choice -> !choice.inStep()).isEmpty();
    Instant step = inStep ? telemetry.advanced(uid) : Instant.EPOCH;
    return Optional.of(step.isAfter(replica.seen()) ? step : replica.seen());
  }

  private JobMembership of(TrainingJob job) {
    return jobs.computeIfAbsent(
        job.getMetadata().getUid(),
        uid -> {
          TrainingJobStatus status = job.getStatus();
          Long generation = status == null ? null : status.generation();
          long newest = generation == null ? 0 : generation;
          return new JobMembership(
              newest,
              newest > 0 ? mandate.since().plus(config.recovery()) : null,
              JobServers.of(job));
        });
  }

  private long heard(TrainingJob job, JobMembership membership, ReplicaState state) {
    Instant now = clock.instant();
    Replica before = membership.replicas.get(state.pod());
    Replica polled = before == null ? Replica.first(state, now) : before.next(state, now);
    // What a server takes to start is part of its workers' wait.
    boolean server = PodName.serverIndex(state.pod()).isPresent();
    Replica after = server ? polled.started() : started(job, polled, before);
    membership.replicas.put(state.pod(), after);
    membership.generation = Math.max(membership.generation, state.generation());
    membership.changed.signalAll();
    return after.poll();
  }

  /** Takes note of the start of a replica that has just become a member, or made its first step. */
  private Replica started(TrainingJob job, Replica replica, @Nullable Replica before) {
    StartMarks marks = replica.start();
    ReplicaState said = replica.state();
    boolean over = said.start() != null;
    if (marks == null
        || marks.joined() == null
        || (!over && before != null && marks.equals(before.start()))) {
      return replica;
    }
    PodTimes pod =
        cache.pods(job).stream()
            .filter(each -> each.getMetadata().getName().equals(said.pod()))
            .findFirst()
            .map(PodTimes::of)
            .orElse(PodTimes.UNKNOWN);
    starts.note(
        job,
        marks.times(
            said.pod(), pod, mandate.since(), Optional.ofNullable(said.start()), replica.seen()),
        over);
    return over ? replica.started() : replica;
  }

  private Optional<Membership> answer(
      TrainingJob job, JobMembership membership, ReplicaState state) {
    if (membership.recoverUntil != null) {
      return Optional.empty();
    }
    Optional<Membership> answer =
        PollAnswer.now(
            state,
            Optional.ofNullable(membership.current()),
            membership.generation,
            () -> publisher.wants(job, membership, state.pod()),
            publisher.ended(job));
    if (answer.isPresent() && answer.get().action() == Action.LEAVE) {
      membership.dismissed.add(state.pod());
    }
    return answer;
  }
}
