package dev.kastor.operator.scheduling;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.family.FamilyStore;
import dev.kastor.operator.mapping.JobMapper;
import dev.kastor.operator.mapping.JobReading;
import dev.kastor.operator.queue.QueueDirectory;
import dev.kastor.operator.queue.QueueRules;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveJob;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.scheduler.model.Reason;
import dev.kastor.scheduler.model.Snapshot;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Snapshot of the cluster for replays of its future elsewhere: what the policy would be told now.
 * It is taken from caches, beside the rounds, and changes nothing. Thread-safe.
 */
@Singleton
public final class LiveSnapshot {
  private final KubernetesCluster cluster;
  private final KubernetesCluster.Knowledge knowledge;
  private final FamilyStore families;
  private final QueueRules queues;
  private final OperatorConfig config;
  private final InstantSource clock;

  LiveSnapshot(
      KubernetesCluster cluster,
      KubernetesCluster.Knowledge knowledge,
      FamilyStore families,
      QueueRules queues,
      OperatorConfig config,
      InstantSource clock) {
    this.cluster = cluster;
    this.knowledge = knowledge;
    this.families = families;
    this.queues = queues;
    this.config = config;
    this.clock = clock;
  }

  /** The cluster as it is; one is taken at a time. */
  public synchronized LiveCluster take() {
    KubernetesCluster.Look look = cluster.look();
    Snapshot snapshot = look.snapshot();
    QueueDirectory directory = queues.directory();
    List<LiveJob> jobs =
        snapshot.jobs().stream()
            .map(job ->
                new LiveJob(
                    job,
                    look.staying().contains(job.id())
                        || (job.pinned() && !directory.has(job.spec().queue()))))
            .toList();
    Duration round = config.roundInterval();
    Duration delay = config.roundDelay();
    return new LiveCluster(
        snapshot.now(),
        config.policy(),
        config.seed(),
        round,
        delay.compareTo(round) < 0 ? delay : round,
        snapshot.nodes(),
        snapshot.queues(),
        jobs,
        look.readings().size() - jobs.size());
  }

  /**
   * A job as the policy would be told of it, were it submitted now.
   *
   * @param job as an API server would store it, with namespace and name
   * @throws IllegalArgumentException if its spec contradicts itself or its queue would not let it
   *     in
   */
  public LiveJob submitted(TrainingJob job) {
    Instant now = clock.instant();
    job.getMetadata().setCreationTimestamp(now.toString());
    QueueDirectory directory = queues.directory();
    Optional<Reason> refusal = directory.refusal(job);
    if (refusal.isPresent()) {
      throw new IllegalArgumentException(refusal.get().message());
    }
    String queue = directory.of(job);
    JobState state =
        JobMapper.state(
            JobReading.of(job, null),
            queue,
            directory.priority(job, queue),
            Integer.MAX_VALUE,
            knowledge.gpuTypes(job),
            families.learner(job).measured(now),
            false,
            false,
            now);
    return new LiveJob(state, false);
  }
}
