package dev.kastor.operator.membership;

import dev.kastor.crds.trainingjob.Pin;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.mapping.JobSpecs;
import dev.kastor.protocol.Member;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ParameterServer;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.training.ServerChoice;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the operator remembers of one job's replicas; owned by whoever holds its lock. */
final class JobMembership {
  final ReentrantLock lock = new ReentrantLock();
  final Condition changed = lock.newCondition();

  /** Written under the lock, read by whoever only wants to know who was heard. */
  final Map<String, Replica> replicas = new ConcurrentHashMap<>();

  /** Pods that were told to go, or that a generation left out. */
  final Set<String> dismissed = new HashSet<>();

  /** Parameter servers that the job asks for. */
  final Optional<ServerChoice> servers;

  private volatile @Nullable Membership current;
  private volatile Set<String> members = Set.of();
  long generation;

  /** Until when a restarted operator listens before it decides; null once it knows. */
  volatile @Nullable Instant recoverUntil;

  private @Nullable Asked asked;

  Instant migrationSince = Instant.MAX;
  Instant lastBatchChange = Instant.MIN;

  /** From when on time alone may change something; read without the lock. */
  volatile Instant nextLook = Instant.MIN;

  JobMembership(long generation, @Nullable Instant recoverUntil, Optional<ServerChoice> servers) {
    this.generation = generation;
    this.servers = servers;
    this.recoverUntil = recoverUntil;
  }

  /** The newest generation that trains; null before the first. */
  @Nullable Membership current() {
    return current;
  }

  void become(@Nullable Membership now) {
    // Others ask for the names without a lock, of all jobs and all the time.
    members =
        now == null
            ? Set.of()
            : now.members().stream().map(Member::pod).collect(Collectors.toUnmodifiableSet());
    current = now;
  }

  /**
   * What the job asks for, read once for each version of its spec.
   *
   * @throws IllegalArgumentException if the spec contradicts itself
   */
  JobSpec spec(TrainingJob job) {
    Asked same = asked;
    if (same == null || !same.by(job)) {
      same = new Asked(job.getMetadata().getGeneration(), Pin.of(job), JobSpecs.of(job));
      asked = same;
    }
    return same.spec;
  }

  /** What versions of a job with one spec and one pin ask for. */
  private record Asked(@Nullable Long generation, Pin pin, JobSpec spec) {
    boolean by(TrainingJob job) {
      return generation != null
          && generation.equals(job.getMetadata().getGeneration())
          && pin.equals(Pin.of(job));
    }
  }

  /** How many pods the newest generation that trains has. */
  int size() {
    return members.size();
  }

  /** Pods of its parameter servers. */
  Set<String> serverPods() {
    Membership now = current;
    return now == null
        ? Set.of()
        : now.serversOrNone().stream()
            .map(ParameterServer::pod)
            .collect(Collectors.toUnmodifiableSet());
  }

  /** Members whose batches make one step together. */
  int shares(int workers) {
    return servers.map(choice -> choice.shares(workers)).orElse(workers);
  }

  /** Pods of the newest generation that trains. */
  Set<String> members() {
    return members;
  }

  /** Ends the polls of a job that is gone. */
  void close() {
    lock.lock();
    try {
      replicas.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
